import { describe, expect, it } from 'vitest';
import { connect, delivered } from './testing/agent.ts';
import { isApprovalRequest, type UiAnswer } from './ui-requests.ts';

const dialog = (method: string, id = method) => ({ type: 'extension_ui_request', id, method, title: 'Well?' });
const notice = (message: string) => ({ type: 'extension_ui_request', id: message, method: 'notify', message });
const resolved = (id: string) => ({ type: 'extension_ui_resolved', id, by: 'timeout' });
const response = (id: string, fields: object) => ({ type: 'extension_ui_response', id, ...fields });

describe('a dialog handler', () => {
  it.each<[string, UiAnswer, object]>([
    ['select', 'second', { value: 'second' }],
    ['input', '', { value: '' }],
    ['editor', 'a\nb', { value: 'a\nb' }],
    ['confirm', true, { confirmed: true }],
    ['confirm', false, { confirmed: false }],
    ['select', undefined, { cancelled: true }],
    ['select', { optionId: 'deny', message: 'not now' }, { value: 'deny', message: 'not now' }],
    ['select', { optionId: 'once' }, { value: 'once' }],
    ['select', { optionId: 'once', message: undefined }, { value: 'once' }],
    ['select', null as unknown as undefined, { cancelled: true }],
  ])('[V27] answers %s with %j', async (method, given, fields) => {
    const { client, emit, sent } = connect();
    client.onUiRequest(async () => given);

    emit(dialog(method));
    await delivered();

    expect(sent).toEqual([response(method, fields)]);
  });

  it('[A114] gets a question again whose answer was refused, a few times', async () => {
    const { client, emit, sent } = connect();
    client.onUiRequest(async () => 'always');
    const refusal = { type: 'server_error', error: 'Permission denied', code: 'permission_denied' };

    emit(dialog('select'));
    await delivered();
    for (let count = 0; count < 5; count++) {
      emit(refusal, dialog('select'));
      await delivered();
    }

    expect(sent).toEqual(Array(4).fill(response('select', { value: 'always' })));
  });

  it('[A114] gets the refused one of two questions again that were answered at once', async () => {
    const { client, emit, sent } = connect();
    client.onUiRequest(async () => 'yes');

    emit(dialog('select', 'first'), dialog('select', 'second'));
    await delivered();
    emit({ type: 'server_error', error: 'Permission denied', code: 'permission_denied' }, dialog('select', 'first'));
    emit(dialog('select', 'second'));
    await delivered();

    expect(sent.map(({ id }) => id)).toEqual(['first', 'second', 'first']);
  });

  it('[V27] that throws cancels the dialog', async () => {
    const { client, emit, sent } = connect();
    client.onUiRequest(({ method }) => {
      if (method === 'input') throw new Error('no keyboard');
      return Promise.reject(new Error('no screen'));
    });

    emit(dialog('input'), dialog('select'));
    await delivered();

    expect(sent).toEqual([response('input', { cancelled: true }), response('select', { cancelled: true })]);
  });

  it('[V27] gets notices too, which have no answer', async () => {
    const { client, emit, sent } = connect();
    const shown: unknown[] = [];
    client.onUiRequest((request) => {
      shown.push(request);
      return 'seen';
    });

    emit(notice('Look'), { type: 'extension_ui_request', id: 's', method: 'setStatus', statusKey: 'k' });
    await delivered();

    expect(shown).toHaveLength(2);
    expect(sent).toEqual([]);
  });

  it('[V27] is aborted when a dialog ends, and its late answer is dropped', async () => {
    const { client, emit, sent, agent } = connect();
    const signals: AbortSignal[] = [];
    const finish: ((answer: string) => void)[] = [];
    client.onUiRequest((_request, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => finish.push(resolve));
    });
    emit(dialog('input', '1'), dialog('input', '2'), dialog('input', '3'), dialog('input', '3'));
    await delivered();

    emit(resolved('1'), resolved('nobody'));
    await delivered();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false, false]);
    finish[0]?.('late');
    finish[1]?.('in time');
    await delivered();
    agent.close();
    await delivered();
    finish[2]?.('to nobody');
    await delivered();

    expect(sent).toEqual([response('2', { value: 'in time' })]);
    expect(signals[2]?.reason).toMatchObject({ name: 'ConnectionLost' });
  });
});

it('[V27] the newest handler answers; removing it activates the previous one, and without handlers no dialog is answered', async () => {
  const { client, emit, sent } = connect();
  emit(dialog('input', '0'));
  await delivered();
  const stopFirst = client.onUiRequest(() => 'first');
  const stopSecond = client.onUiRequest(() => 'second');

  emit(dialog('input', '1'));
  await delivered();
  stopSecond();
  emit(dialog('input', '2'));
  await delivered();
  stopFirst();
  emit(dialog('input', '3'));
  await delivered();

  expect(sent).toEqual([response('1', { value: 'second' }), response('2', { value: 'first' })]);
});

it('a handler recognizes approvals, and gets them with the command and the options', async () => {
  const { client, emit, sent } = connect();
  client.onUiRequest((request) => {
    if (!isApprovalRequest(request)) return undefined;
    const { subject, options } = request.approval;
    const isAllowed = subject.type === 'command' && subject.command === 'npm test';
    const kind = isAllowed ? 'allow_session' : 'reject_once';
    const optionId = options.find((option) => option.kind === kind)?.optionId ?? '';
    return isAllowed ? { optionId } : { optionId, message: 'Run the tests only' };
  });
  const options = [
    { optionId: '1', name: 'Allow for this session', kind: 'allow_session' },
    { optionId: '2', name: 'Deny', kind: 'reject_once' },
  ];
  const question = (id: string, command: string) => ({
    ...dialog('select', id),
    options: options.map(({ name }) => name),
    approval: { subject: { type: 'command', command, cwd: '/' }, options },
  });

  emit(question('a', 'npm test'), question('b', 'npm publish'), dialog('select', 'c'), dialog('confirm', 'd'));
  await delivered();

  expect(sent).toEqual([
    response('a', { value: '1' }),
    response('b', { value: '2', message: 'Run the tests only' }),
    response('c', { cancelled: true }),
    response('d', { cancelled: true }),
  ]);
});

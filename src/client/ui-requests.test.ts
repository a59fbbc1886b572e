import { describe, expect, it } from 'vitest';
import { connect, delivered } from './testing/agent.ts';
import type { UiAnswer } from './ui-requests.ts';

const ask = (method: string, id = method) => ({ type: 'extension_ui_request', id, method, title: 'Well?' });
const notice = (message: string) => ({ type: 'extension_ui_request', id: message, method: 'notify', message });
const resolved = (id: string) => ({ type: 'extension_ui_resolved', id, by: 'timeout' });
const answer = (id: string, fields: object) => ({ type: 'extension_ui_response', id, ...fields });

describe('a handler of dialogs', () => {
  it.each<[string, UiAnswer, object]>([
    ['select', 'second', { value: 'second' }],
    ['input', '', { value: '' }],
    ['editor', 'a\nb', { value: 'a\nb' }],
    ['confirm', true, { confirmed: true }],
    ['confirm', false, { confirmed: false }],
    ['select', undefined, { cancelled: true }],
  ])('[V27] answers %s with %j', async (method, given, fields) => {
    const { client, say, sent } = connect();
    client.onUiRequest(async () => given);

    say(ask(method));
    await delivered();

    expect(sent).toEqual([answer(method, fields)]);
  });

  it('[V27] that throws calls the dialog off', async () => {
    const { client, say, sent } = connect();
    client.onUiRequest(({ method }) => {
      if (method === 'input') throw new Error('no keyboard');
      return Promise.reject(new Error('no screen'));
    });

    say(ask('input'), ask('select'));
    await delivered();

    expect(sent).toEqual([answer('input', { cancelled: true }), answer('select', { cancelled: true })]);
  });

  it('[V27] shows notices, which get no answer', async () => {
    const { client, say, sent } = connect();
    const shown: unknown[] = [];
    client.onUiRequest((request) => {
      shown.push(request);
      return 'seen';
    });

    say(notice('Look'), { type: 'extension_ui_request', id: 's', method: 'setStatus', statusKey: 'k' });
    await delivered();

    expect(shown).toHaveLength(2);
    expect(sent).toEqual([]);
  });

  it('[V27] is told when a dialog is over, and then says nothing', async () => {
    const { client, say, sent, agent } = connect();
    const signals: AbortSignal[] = [];
    const finish: ((answer: string) => void)[] = [];
    client.onUiRequest((_request, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => finish.push(resolve));
    });
    say(ask('input', '1'), ask('input', '2'), ask('input', '3'), ask('input', '3'));
    await delivered();

    say(resolved('1'), resolved('nobody'));
    await delivered();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false, false]);
    finish[0]?.('late');
    finish[1]?.('in time');
    await delivered();
    agent.close();
    await delivered();
    finish[2]?.('to nobody');
    await delivered();

    expect(sent).toEqual([answer('2', { value: 'in time' })]);
    expect(signals[2]?.reason).toMatchObject({ name: 'ConnectionLost' });
  });
});

it('[V27] the last handler answers, and the one before it when that is taken back; without any nobody does', async () => {
  const { client, say, sent } = connect();
  say(ask('input', '0'));
  await delivered();
  const stopFirst = client.onUiRequest(() => 'first');
  const stopSecond = client.onUiRequest(() => 'second');

  say(ask('input', '1'));
  await delivered();
  stopSecond();
  say(ask('input', '2'));
  await delivered();
  stopFirst();
  say(ask('input', '3'));
  await delivered();

  expect(sent).toEqual([answer('1', { value: 'second' }), answer('2', { value: 'first' })]);
});

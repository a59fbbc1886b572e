import { describe, expect, it } from 'vitest';
import { messageParams } from './messages.ts';
import { assistant, call, claude, picture, result, text, user } from './testing/conversation.ts';

const assistantParam = (...content: object[]) => ({ role: 'assistant', content });
const userParam = (...content: object[]) => ({ role: 'user', content });
const toolUse = (id: string) => ({ type: 'tool_use', id, name: 'read', input: { path: id } });
const toolResult = (id: string, ...content: object[]) => ({ type: 'tool_result', tool_use_id: id, content });
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const other = { api: 'openai-responses', provider: 'openai', model: 'gpt' };

describe('user content', () => {
  it('is text and images', () => {
    const params = messageParams([user('one'), assistant([text('1')]), user([text('two'), picture()])], claude);

    expect(params).toEqual([userParam(text('one')), assistantParam(text('1')), userParam(text('two'), png)]);
  });

  it('has no blank texts, and no message without blocks', () => {
    const params = messageParams(
      [user('one'), assistant([text(' '), text('1')]), user([text('\n')]), assistant([text('')]), user('two')],
      claude,
    );

    expect(params).toEqual([userParam(text('one')), assistantParam(text('1')), userParam(text('two'))]);
  });

  it('names an image whose type the API rejects', () => {
    const params = messageParams([user([picture('image/bmp')])], claude);

    expect(params).toEqual([userParam(text('[An image of type image/bmp, which this model cannot see]'))]);
  });

  it('names an image for a model without image input', () => {
    const params = messageParams([user([picture()])], { ...claude, input: ['text'] });

    expect(params).toEqual([userParam(text('[An image, which this model cannot see]'))]);
  });

  it('is one message up to the next assistant message', () => {
    expect(messageParams([user('one'), user('two')], claude)).toEqual([userParam(text('one'), text('two'))]);
  });

  it.each([
    ['begins with an assistant message', [assistant([text('1')])], [assistantParam(text('1'))]],
    ['is empty', [], []],
  ])('comes first even if the conversation %s', (_how, messages, rest) => {
    expect(messageParams(messages, claude)).toEqual([
      userParam(text('(The beginning of the conversation is not shown.)')),
      ...rest,
    ]);
  });
});

describe('tool results', () => {
  it('of parallel calls are one message, with images and errors', () => {
    const messages = [
      user('go'),
      assistant([text('Well'), call('a'), call('b')]),
      result('a', [text('seen'), picture()]),
      result('b', 'lost', true),
    ];

    expect(messageParams(messages, claude)).toEqual([
      userParam(text('go')),
      assistantParam(text('Well'), toolUse('a'), toolUse('b')),
      userParam(toolResult('a', text('seen'), png), { ...toolResult('b', text('lost')), is_error: true }),
    ]);
  });

  it('precede user text that arrived meanwhile', () => {
    const messages = [user('go'), assistant([call('a'), call('b')]), result('a', '1'), user('stop'), result('b', '2')];

    expect(messageParams(messages, claude).at(-1)).toEqual(
      userParam(toolResult('a', text('1')), toolResult('b', text('2')), text('stop')),
    );
  });

  it('are never empty', () => {
    const messages = [user('go'), assistant([call('a')]), result('a', ' \n', true)];

    expect(messageParams(messages, claude).at(-1)).toEqual(
      userParam({ ...toolResult('a', text('(no output)')), is_error: true }),
    );
  });

  it('without a call, and second results of a call, are omitted', () => {
    const messages = [
      result('early', '0'),
      user('go'),
      assistant([call('a')]),
      result('a', '1'),
      result('a', 'again'),
      result('b', '2'),
      assistant([text('done')]),
      result('a', 'late'),
    ];

    expect(messageParams(messages, claude)).toEqual([
      userParam(text('go')),
      assistantParam(toolUse('a')),
      userParam(toolResult('a', text('1'))),
      assistantParam(text('done')),
    ]);
  });

  it('follow their calls if an id is rewritten', () => {
    const id = `call_1|fc_${'x'.repeat(80)}`;
    const params = messageParams([user('go'), assistant([call(id)], other), result(id, '1')], claude);

    const changed = expect.stringMatching(/^call_1_fc_x+_[0-9a-f]{16}$/);
    expect(params.slice(1)).toEqual([
      assistantParam({ ...toolUse(id), id: changed }),
      userParam({ ...toolResult(id, text('1')), tool_use_id: changed }),
    ]);
    expect(JSON.stringify(params).match(/"(?:id|tool_use_id)":"([\w-]{1,64})"/g)).toHaveLength(2);
  });
});

describe('thinking', () => {
  const signed = { type: 'thinking' as const, thinking: 'hm', thinkingSignature: 'seal' };
  const hidden = { type: 'thinking' as const, thinking: '', thinkingSignature: 'secret', redacted: true };

  it('is replayed unchanged', () => {
    expect(messageParams([user('go'), assistant([signed, hidden, text('1')])], claude).at(-1)).toEqual(
      assistantParam(
        { type: 'thinking', thinking: 'hm', signature: 'seal' },
        { type: 'redacted_thinking', data: 'secret' },
        text('1'),
      ),
    );
  });

  it('without text is replayed, too', () => {
    expect(messageParams([user('go'), assistant([{ ...signed, thinking: '' }, text('1')])], claude).at(-1)).toEqual(
      assistantParam({ type: 'thinking', thinking: '', signature: 'seal' }, text('1')),
    );
  });

  it('without a signature becomes text', () => {
    const unsigned = { type: 'thinking' as const, thinking: 'hm' };

    expect(messageParams([user('go'), assistant([unsigned, text('1')])], claude).at(-1)).toEqual(
      assistantParam(text('hm'), text('1')),
    );
  });

  it('of another model becomes text, except hidden thinking', () => {
    expect(messageParams([user('go'), assistant([signed, hidden, text('1')], other)], claude).at(-1)).toEqual(
      assistantParam(text('hm'), text('1')),
    );
  });

  it('at the end of a message is omitted', () => {
    const params = messageParams(
      [user('go'), assistant([text('1'), signed]), user('on'), assistant([signed]), user('?')],
      claude,
    );

    expect(params).toEqual([userParam(text('go')), assistantParam(text('1')), userParam(text('on'), text('?'))]);
  });
});

import { describe, expect, it } from 'vitest';
import { turnsOf } from './messages.ts';
import { answer, call, claude, picture, result, text, user } from './testing/conversation.ts';

const spoken = (...content: object[]) => ({ role: 'assistant', content });
const said = (...content: object[]) => ({ role: 'user', content });
const used = (id: string) => ({ type: 'tool_use', id, name: 'read', input: { path: id } });
const got = (id: string, ...content: object[]) => ({ type: 'tool_result', tool_use_id: id, content });
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const other = { api: 'openai-responses', provider: 'openai', model: 'gpt' };

describe('what is said', () => {
  it('is text and images', () => {
    const turns = turnsOf([user('one'), answer([text('1')]), user([text('two'), picture()])], claude);

    expect(turns).toEqual([said(text('one')), spoken(text('1')), said(text('two'), png)]);
  });

  it('has no empty texts, and no turn that would be left without a word', () => {
    const turns = turnsOf(
      [user('one'), answer([text(' '), text('1')]), user([text('\n')]), answer([text('')]), user('two')],
      claude,
    );

    expect(turns).toEqual([said(text('one')), spoken(text('1')), said(text('two'))]);
  });

  it('names an image that the API does not take', () => {
    const turns = turnsOf([user([picture('image/bmp')])], claude);

    expect(turns).toEqual([said(text('[An image of type image/bmp, which this model cannot see]'))]);
  });

  it('names an image to a model that sees none', () => {
    const turns = turnsOf([user([picture()])], { ...claude, input: ['text'] });

    expect(turns).toEqual([said(text('[An image, which this model cannot see]'))]);
  });

  it('is one turn until the model answers', () => {
    expect(turnsOf([user('one'), user('two')], claude)).toEqual([said(text('one'), text('two'))]);
  });

  it.each([
    ['begins with an answer', [answer([text('1')])], [spoken(text('1'))]],
    ['is nothing', [], []],
  ])('comes first even where the conversation %s', (_how, messages, rest) => {
    expect(turnsOf(messages, claude)).toEqual([
      said(text('(The beginning of the conversation is not shown.)')),
      ...rest,
    ]);
  });
});

describe('results', () => {
  it('of parallel calls are one turn, images and errors among them', () => {
    const messages = [
      user('go'),
      answer([text('Well'), call('a'), call('b')]),
      result('a', [text('seen'), picture()]),
      result('b', 'lost', true),
    ];

    expect(turnsOf(messages, claude)).toEqual([
      said(text('go')),
      spoken(text('Well'), used('a'), used('b')),
      said(got('a', text('seen'), png), { ...got('b', text('lost')), is_error: true }),
    ]);
  });

  it('come before what the user said meanwhile', () => {
    const messages = [user('go'), answer([call('a'), call('b')]), result('a', '1'), user('stop'), result('b', '2')];

    expect(turnsOf(messages, claude).at(-1)).toEqual(said(got('a', text('1')), got('b', text('2')), text('stop')));
  });

  it('are never empty', () => {
    const messages = [user('go'), answer([call('a')]), result('a', ' \n', true)];

    expect(turnsOf(messages, claude).at(-1)).toEqual(said({ ...got('a', text('(no output)')), is_error: true }));
  });

  it('are left out where nothing was called, and where they come twice', () => {
    const messages = [
      result('early', '0'),
      user('go'),
      answer([call('a')]),
      result('a', '1'),
      result('a', 'again'),
      result('b', '2'),
      answer([text('done')]),
      result('a', 'late'),
    ];

    expect(turnsOf(messages, claude)).toEqual([
      said(text('go')),
      spoken(used('a')),
      said(got('a', text('1'))),
      spoken(text('done')),
    ]);
  });

  it('follow their calls when an id has to change', () => {
    const id = `call_1|fc_${'x'.repeat(80)}`;
    const turns = turnsOf([user('go'), answer([call(id)], other), result(id, '1')], claude);

    const changed = expect.stringMatching(/^call_1_fc_x+_[0-9a-f]{16}$/);
    expect(turns.slice(1)).toEqual([
      spoken({ ...used(id), id: changed }),
      said({ ...got(id, text('1')), tool_use_id: changed }),
    ]);
    expect(JSON.stringify(turns).match(/"(?:id|tool_use_id)":"([\w-]{1,64})"/g)).toHaveLength(2);
  });
});

describe('thoughts', () => {
  const signed = { type: 'thinking' as const, thinking: 'hm', thinkingSignature: 'seal' };
  const hidden = { type: 'thinking' as const, thinking: '', thinkingSignature: 'secret', redacted: true };

  it('go back as they came', () => {
    expect(turnsOf([user('go'), answer([signed, hidden, text('1')])], claude).at(-1)).toEqual(
      spoken(
        { type: 'thinking', thinking: 'hm', signature: 'seal' },
        { type: 'redacted_thinking', data: 'secret' },
        text('1'),
      ),
    );
  });

  it('without words go back, too', () => {
    expect(turnsOf([user('go'), answer([{ ...signed, thinking: '' }, text('1')])], claude).at(-1)).toEqual(
      spoken({ type: 'thinking', thinking: '', signature: 'seal' }, text('1')),
    );
  });

  it('become text without a seal', () => {
    const unsigned = { type: 'thinking' as const, thinking: 'hm' };

    expect(turnsOf([user('go'), answer([unsigned, text('1')])], claude).at(-1)).toEqual(spoken(text('hm'), text('1')));
  });

  it('of another model become text, but for those that nobody sees', () => {
    expect(turnsOf([user('go'), answer([signed, hidden, text('1')], other)], claude).at(-1)).toEqual(
      spoken(text('hm'), text('1')),
    );
  });

  it('are left out where nothing follows from them', () => {
    const turns = turnsOf([user('go'), answer([text('1'), signed]), user('on'), answer([signed]), user('?')], claude);

    expect(turns).toEqual([said(text('go')), spoken(text('1')), said(text('on'), text('?'))]);
  });
});

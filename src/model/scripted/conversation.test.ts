import { describe, expect, test } from 'vitest';
import type { ModelMessage } from '../request.ts';
import { converse } from './conversation.ts';
import { scriptedProvider } from './player.ts';
import { answers, bash, called, image, read, result, said, write } from './testing/dialogue.ts';
import { answerOf, hear, modelNamed, question, usageOf } from './testing/rehearse.ts';

const text = (words: string) => ({ text: words });

describe('several requests', () => {
  test.each([
    ['list the files and read a.txt', [bash('ls -la'), read('a.txt')]],
    [' and say hi', [text('hi')]],
    ['say hi and say ho', [text('hi'), text('\n\nho')]],
    ['count to 3 and fail with 503', [text('1 2 3'), { error: { status: 503 } }]],
    ['say one then say two', [text('one'), text('\n\ntwo')]],
    ['say one then list the files then read a.txt', [text('one'), bash('ls -la')]],
    ['1. read a.txt\n2. read b.txt', [read('a.txt')]],
    ['read a.txt and sing a song', [read('a.txt'), text('I do not know what to do with “sing a song”.')]],
    [
      'list the files and tell me a joke and laugh',
      [bash('ls -la'), text('I do not know what to do with “tell me a joke and laugh”.')],
    ],
  ])('%j', (message, steps) => {
    expect(answers([said(message)])).toEqual(steps);
  });

  test('those joined by then are done one after another', () => {
    const start: ModelMessage[] = [said('List the files, then read a.txt and b.txt, and then say done.')];

    const first = [...start, called(bash('ls -la')), result('bash', 'a.txt')];
    const second = [...first, called(read('a.txt'), read('b.txt')), result('read', 'A'), result('read', '')];

    expect(answers(start)).toEqual([bash('ls -la')]);
    expect(answers(first)).toEqual([text('The tool bash is done.\n\n```\na.txt\n```'), read('a.txt'), read('b.txt')]);
    expect(answers(second)).toEqual([
      text('The tool read is done.\n\n```\nA\n```'),
      text('\n\nThe tool read is done, without output.'),
      text('\n\ndone.'),
    ]);
  });

  test('a long text to write is taken in one go', () => {
    const lines = Array(20_000).fill('milk and bread, then butter').join('\n');

    expect(answers([said(`write list.txt: ${lines}`)])).toEqual([write('list.txt', lines)]);
  });
});

describe('tool results', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

  test.each([
    ['an error', result('bash', 'no such file', 'failed'), 'The tool bash failed.\n\n```\nno such file\n```'],
    [
      'ten lines',
      result('bash', numbered(10).join('\n')),
      `The tool bash is done.\n\n\`\`\`\n${numbered(10).join('\n')}\n\`\`\``,
    ],
    [
      'many lines',
      result('bash', numbered(12).join('\n')),
      `The tool bash is done.\n\n\`\`\`\n${numbered(10).join('\n')}\n\`\`\`\n\nAnd 2 more lines.`,
    ],
    ['a fence', result('read', '```\na\n```'), 'The tool read is done.\n\n````\n```\na\n```\n````'],
    [
      'a long line',
      result('read', `${'x'.repeat(199)}😀y`),
      `The tool read is done.\n\n\`\`\`\n${'x'.repeat(199)}…\n\`\`\``,
    ],
    ['an image', { ...result('read', ''), content: [image('AAAA')] }, 'The tool read is done.\n\nIt gave 1 image.'],
  ])('%s', (_name, outcome, expected) => {
    expect(answers([said('run it'), called(bash('it')), outcome])).toEqual([text(expected)]);
  });

  test('a word of the user after them is answered instead', () => {
    const messages = [said('run a'), called(bash('a')), result('bash', 'A'), said('say stop')];

    expect(answers(messages)).toEqual([text('stop')]);
  });

  test('calls of another model are reported as well', () => {
    expect(answers([said('What a day'), called(bash('a')), result('bash', '')])).toEqual([
      text('The tool bash is done, without output.'),
    ]);
  });

  test('a failure that was asked for comes at once', () => {
    const messages = [said('run a then fail with 529'), called(bash('a')), result('bash', 'A')];

    expect(answers(messages)).toEqual([{ error: { status: 529 } }]);
  });
});

test('images are counted and measured', () => {
  const content = [{ type: 'text' as const, text: 'Who is that?' }, image('AAAA'), image('AAA=')];

  expect(answers([said(content)])).toEqual([
    text('You sent 2 images: image/png, 3 bytes; image/png, 2 bytes. I am scripted and do not look at images.'),
  ]);
  expect(answers([said([...content.slice(1), { type: 'text', text: 'say hi' }])])).toEqual([
    text('You sent 2 images: image/png, 3 bytes; image/png, 2 bytes. I am scripted and do not look at images.'),
    text('\n\nhi'),
  ]);
});

describe('thinking', () => {
  const reasoning = { thinkingLevel: 'high' } as const;

  test('comes first when it is on', () => {
    expect(answers([said('say hi')], reasoning)).toEqual([{ thinking: 'The message reads “say hi”.' }, text('hi')]);
    expect(answers([said('run a'), called(bash('a')), result('bash', '')], reasoning)).toEqual([
      { thinking: 'The tools have answered. I tell what they gave.' },
      text('The tool bash is done, without output.'),
    ]);
  });

  test('comes once', () => {
    expect(answers([said('think about it')], reasoning)).toEqual(answers([said('think about it')]));
  });

  test('does not come from a model that cannot', () => {
    const model = modelNamed('scripted-small');

    expect(answers([said('say hi')], { ...reasoning, model })).toEqual([text('hi')]);
    expect(answers([said('think about it')], { model })).toEqual([text('I thought about it, as far as a script can.')]);
  });
});

describe('anything else', () => {
  test.each([
    ['What a day!\nrun for it', 'You wrote “What a day! run for it”.'],
    ['run the tests', 'You wrote “run the tests”.'],
    ['', 'Your message has no text.'],
  ])('%j is told that this is a script', (message, beginning) => {
    const [step, ...more] = answers([said(message)]);

    expect(more).toEqual([]);
    expect(step && 'text' in step && step.text.split('\n')[0]).toBe(
      `${beginning} I am the scripted model of tau, not a real model: I understand a few plain requests and nothing else.`,
    );
  });

  test('no message at all is told so as well', () => {
    expect(answers([])).toEqual(answers([said('')]));
  });
});

test('a conversation streams like any answer', async () => {
  const request = question({ messages: [said('say hello there')] });

  const { message } = await hear(scriptedProvider({}), request);

  expect(message).toEqual(answerOf({ content: [{ type: 'text', text: 'hello there' }], usage: usageOf(4, 3) }));
});

test('sums up a record of a conversation', () => {
  const record = '[User]: list the files\n\n[Tool call]: ls({})\n\n[Assistant]: Done.\n\n[User]: thanks';
  const text = `<conversation>\n${record}\n</conversation>\n\nSummarise it.`;
  const [step] = converse(question({ messages: [{ role: 'user', content: text, timestamp: 0 }] }));

  expect(step).toMatchObject({ text: expect.stringContaining('- [x] list the files\n- [x] thanks') });
  expect(step).toMatchObject({ text: expect.stringContaining('2 requests, 1 tool call') });
});

import { describe, expect, test } from 'vitest';
import type { ModelMessage } from '../../request.ts';
import { scriptedProvider } from '../player.ts';
import { assistantMessage, callToEnd, freeUsage, modelNamed, scriptedRequest } from '../testing/call.ts';
import { assistantCalls, bash, image, read, respond, result, userMessage, write } from '../testing/messages.ts';
import { converse } from './converse.ts';

const text = (content: string) => ({ text: content });

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
    expect(respond([userMessage(message)])).toEqual(steps);
  });

  test('requests joined by then run one after another', () => {
    const start: ModelMessage[] = [userMessage('List the files, then read a.txt and b.txt, and then say done.')];

    const first = [...start, assistantCalls(bash('ls -la')), result('bash', 'a.txt')];
    const second = [...first, assistantCalls(read('a.txt'), read('b.txt')), result('read', 'A'), result('read', '')];

    expect(respond(start)).toEqual([bash('ls -la')]);
    expect(respond(first)).toEqual([text('The tool bash is done.\n\n```\na.txt\n```'), read('a.txt'), read('b.txt')]);
    expect(respond(second)).toEqual([
      text('The tool read is done.\n\n```\nA\n```'),
      text('\n\nThe tool read is done, without output.'),
      text('\n\ndone.'),
    ]);
  });

  test('a long text to write is one request', () => {
    const lines = Array(20_000).fill('milk and bread, then butter').join('\n');

    expect(respond([userMessage(`write list.txt: ${lines}`)])).toEqual([write('list.txt', lines)]);
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
    expect(respond([userMessage('run it'), assistantCalls(bash('it')), outcome])).toEqual([text(expected)]);
  });

  test('a user message after them is handled instead', () => {
    const messages = [userMessage('run a'), assistantCalls(bash('a')), result('bash', 'A'), userMessage('say stop')];

    expect(respond(messages)).toEqual([text('stop')]);
  });

  test('results of calls by another model are reported as well', () => {
    expect(respond([userMessage('What a day'), assistantCalls(bash('a')), result('bash', '')])).toEqual([
      text('The tool bash is done, without output.'),
    ]);
  });

  test('a requested failure comes at once', () => {
    const messages = [userMessage('run a then fail with 529'), assistantCalls(bash('a')), result('bash', 'A')];

    expect(respond(messages)).toEqual([{ error: { status: 529 } }]);
  });
});

test('images are counted and measured', () => {
  const content = [{ type: 'text' as const, text: 'Who is that?' }, image('AAAA'), image('AAA=')];

  expect(respond([userMessage(content)])).toEqual([
    text('You sent 2 images: image/png, 3 bytes; image/png, 2 bytes. I am scripted and do not look at images.'),
  ]);
  expect(respond([userMessage([...content.slice(1), { type: 'text', text: 'say hi' }])])).toEqual([
    text('You sent 2 images: image/png, 3 bytes; image/png, 2 bytes. I am scripted and do not look at images.'),
    text('\n\nhi'),
  ]);
});

describe('thinking', () => {
  const reasoning = { thinkingLevel: 'high' } as const;

  test('comes first if it is on', () => {
    expect(respond([userMessage('say hi')], reasoning)).toEqual([
      { thinking: 'The message reads “say hi”.' },
      text('hi'),
    ]);
    expect(respond([userMessage('run a'), assistantCalls(bash('a')), result('bash', '')], reasoning)).toEqual([
      { thinking: 'The tools have answered. I tell what they gave.' },
      text('The tool bash is done, without output.'),
    ]);
  });

  test('comes once', () => {
    expect(respond([userMessage('think about it')], reasoning)).toEqual(respond([userMessage('think about it')]));
  });

  test('does not come from a model without reasoning', () => {
    const model = modelNamed('scripted-small');

    expect(respond([userMessage('say hi')], { ...reasoning, model })).toEqual([text('hi')]);
    expect(respond([userMessage('think about it')], { model })).toEqual([
      text('I thought about it, as far as a script can.'),
    ]);
  });
});

describe('anything else', () => {
  test.each([
    ['What a day!\nrun for it', 'You wrote “What a day! run for it”.'],
    ['run the tests', 'You wrote “run the tests”.'],
    ['', 'Your message has no text.'],
  ])('%j gets the introduction', (message, beginning) => {
    const [step, ...more] = respond([userMessage(message)]);

    expect(more).toEqual([]);
    expect(step && 'text' in step && step.text.split('\n')[0]).toBe(
      `${beginning} I am the scripted model of tau, not a real model: I understand a few plain requests and nothing else.`,
    );
  });

  test('no message at all gets the introduction, too', () => {
    expect(respond([])).toEqual(respond([userMessage('')]));
  });
});

test('a conversation streams like any response', async () => {
  const request = scriptedRequest({ messages: [userMessage('say hello there')] });

  const { message } = await callToEnd(scriptedProvider({}), request);

  expect(message).toEqual(
    assistantMessage({ content: [{ type: 'text', text: 'hello there' }], usage: freeUsage(4, 3) }),
  );
});

test('a recorded conversation is summarised', () => {
  const record = '[User]: list the files\n\n[Tool call]: ls({})\n\n[Assistant]: Done.\n\n[User]: thanks';
  const text = `<conversation>\n${record}\n</conversation>\n\nSummarise it.`;
  const [step] = converse(scriptedRequest({ messages: [{ role: 'user', content: text, timestamp: 0 }] }));

  expect(step).toMatchObject({ text: expect.stringContaining('- [x] list the files\n- [x] thanks') });
  expect(step).toMatchObject({ text: expect.stringContaining('2 requests, 1 tool call') });
});

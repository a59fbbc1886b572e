import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseScript, ScriptError } from './script.ts';

test('a line is one answer, short or with steps; blank lines and comments are skipped', () => {
  const text = [
    '// a greeting',
    '{"text":"Hello"}',
    '',
    '  // and work, asked for by name',
    '{"when":"^go$","keep":true,"steps":[{"text":"On it."},{"toolCall":{"name":"bash","arguments":{"command":"ls"}}}]}',
    '{"repeat":true}',
    '',
  ].join('\r\n');

  expect(parseScript(text, 'demo.jsonl')).toEqual({
    answers: [
      { steps: [{ text: 'Hello' }], keep: false },
      {
        steps: [{ text: 'On it.' }, { toolCall: { name: 'bash', arguments: { command: 'ls' } } }],
        when: /^go$/,
        keep: true,
      },
    ],
    repeat: true,
  });
});

test.each([
  { text: 'a', chunks: 3 },
  { thinking: 'a', times: 2, delayMs: 0.5 },
  { toolCall: { name: 'read', id: 'call_1', rawArguments: '{bad' }, chunks: 2, await: 'go' },
  { delayMs: 10 },
  { usage: { input: 1 } },
  { stop: 'length' },
  { error: { status: 429, message: 'Slow down', retryAfterMs: 100 } },
  { overflow: true },
  { cut: true },
  { stall: true },
  { await: '/tmp/go' },
])('%j is a step', (step) => {
  expect(parseScript(JSON.stringify(step), 'x')).toEqual({ answers: [{ steps: [step], keep: false }], repeat: false });
});

test('a script without answers is valid', () => {
  expect(parseScript('\uFEFF// nothing yet\n', 'x')).toEqual({ answers: [], repeat: false });
});

const kinds = 'text, thinking, toolCall, usage, stop, error, overflow, cut, stall, await, delayMs';

test.each([
  ['["text"]', 'a line must be an object'],
  ['{"txt":"a"}', `a step has one of ${kinds}; this one has "txt"`],
  ['{}', `a step has one of ${kinds}; this one has nothing`],
  ['{"text":"a","shout":true}', 'shout is not a known field'],
  ['{"text":"a","stop":"length"}', 'text and stop exclude each other'],
  ['{"text":"a","await":"b"}', 'text and await exclude each other'],
  ['{"text":1}', 'text must be a string'],
  ['{"text":"a","chunks":0}', 'chunks must be at least 1'],
  ['{"text":"a","chunks":2,"times":2}', 'chunks and times exclude each other'],
  ['{"text":"a","delayMs":-1}', 'delayMs must be at least 0'],
  ['{"stall":true,"delayMs":1}', 'delayMs is not a known field'],
  ['{"steps":{}}', 'steps must be an array'],
  ['{"steps":[],"text":"a"}', 'text is not a known field'],
  ['{"steps":[{"text":"a"},{"times":2}]}', `steps[1]: a step has one of ${kinds}; this one has "times"`],
  ['{"steps":[{"text":"a"},"b"]}', 'steps[1]: a step must be an object'],
  ['{"toolCall":{"arguments":{}}}', 'toolCall.name is required'],
  ['{"toolCall":{"name":"a","arguments":[]}}', 'toolCall.arguments must be an object'],
  ['{"toolCall":{"name":"a","args":{}}}', 'toolCall.args is not a known field'],
  [
    '{"toolCall":{"name":"a","arguments":{},"rawArguments":""}}',
    'toolCall.arguments and toolCall.rawArguments exclude each other',
  ],
  ['{"error":{"message":"a"}}', 'error.status is required'],
  ['{"usage":{"input":-1}}', 'usage.input must be at least 0'],
  ['{"stop":"error"}', 'stop must be one of "stop", "length", "toolUse"'],
  ['{"overflow":false}', 'overflow must be true'],
  ['{"text":"a","when":1}', 'when must be a string'],
  ['{"text":"a","keep":true}', 'keep needs when'],
  ['{"repeat":false}', 'repeat must be true'],
  ['{"repeat":true,"text":"a"}', 'text is not a known field'],
])('%s is rejected', (line, problem) => {
  const text = `// first\n{"text":"a"}\n${line}`;

  expect(() => parseScript(text, 'demo.jsonl')).toThrow(new ScriptError('demo.jsonl', 3, problem));
});

test.each([
  ['{"text":', /^demo\.jsonl:1: not JSON: /],
  ['{"text":"a","when":"("}', /^demo\.jsonl:1: when: Invalid regular expression/],
  ['{"repeat":true}', /^demo\.jsonl:1: there is no answer to repeat$/],
  ['{"text":"a"}\n{"repeat":true}\n\n{"text":"b"}', /^demo\.jsonl:4: nothing may follow \{"repeat":true\}$/],
])('%j is rejected', (text, problem) => {
  expect(() => parseScript(text, 'demo.jsonl')).toThrow(problem);
});

test('the example of the manual is a valid script', async () => {
  const manual = await readFile(new URL('../../../docs/scripted-model.md', import.meta.url), 'utf8');
  const [, example = ''] = /```jsonl\n([\s\S]*?)```/.exec(manual) ?? [];

  const { answers, repeat } = parseScript(example, 'demo.jsonl');

  expect(answers.map(({ steps }) => steps.length)).toEqual([1, 4, 1, 1, 2, 2]);
  expect(repeat).toBe(true);
});

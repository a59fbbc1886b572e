import { expect, it } from 'vitest';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, shapeProblem, tooDeepProblem } from './json-shape.ts';

const LONG = 'x'.repeat(600_000);

it('shapeProblem accepts long but simple text, whatever its strings contain', () => {
  const text = '[{"a":1},'.repeat(100_000);
  const lines = [
    { message: LONG },
    { message: text },
    { message: `${'\\"[{,'.repeat(100_000)}\\` },
    { images: Array.from({ length: 20 }, () => ({ type: 'image', data: LONG })) },
    Array.from({ length: MAX_JSON_VALUES - 1 }, () => 'value'),
  ];

  for (const line of lines) expect(shapeProblem(JSON.stringify(line))).toBeUndefined();
});

it.each([
  ['a long list', `[${'0,     '.repeat(MAX_JSON_VALUES + 1)}0]`, `more than ${MAX_JSON_VALUES} values`],
  ['many objects', '{},'.repeat(2 * MAX_JSON_VALUES), `more than ${MAX_JSON_VALUES} values`],
  ['many keys', `{${'"k":0,'.repeat(MAX_JSON_VALUES + 1)}`, `more than ${MAX_JSON_VALUES} values`],
  ['deep nesting', `{"text":"${LONG}","more":${'['.repeat(MAX_JSON_DEPTH)}`, tooDeepProblem],
  ['deep nesting behind strings', `["\\\\","${LONG}"${',{"a":'.repeat(MAX_JSON_DEPTH)}`, tooDeepProblem],
])('shapeProblem rejects %s', (_what, text, problem) => {
  expect(shapeProblem(text)).toBe(problem);
});

it('shapeProblem counts no values in an unterminated string', () => {
  expect(shapeProblem(`{"a":"${'[,'.repeat(300_000)}`)).toBeUndefined();
});

it('shapeProblem leaves short texts to the parser', () => {
  expect(shapeProblem('['.repeat(5000))).toBeUndefined();
});

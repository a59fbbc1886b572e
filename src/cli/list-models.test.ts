import { expect, test } from 'vitest';
import type { Model } from '../protocol/generated/vocabulary.ts';
import { modelList } from './list-models.ts';

const model = (provider: string, id: string, own: Partial<Model> = {}): Model => ({
  id,
  name: id,
  api: 'openai-completions',
  provider,
  reasoning: false,
  input: ['text'],
  contextWindow: 131_072,
  maxTokens: 8_192,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...own,
});

const models = [
  model('small', 'tiny', { contextWindow: 512, cost: { input: 0.075, output: 0.3, cacheRead: 0, cacheWrite: 0 } }),
  model('big', 'claude-opus-10', { name: 'Claude Opus 10' }),
  model('big', 'claude-opus-5-5', {
    name: 'Claude Opus 5.5',
    reasoning: true,
    thinkingLevelMap: { off: null, minimal: null, max: 'max' },
    input: ['text', 'image'],
    contextWindow: 1_048_576,
    maxTokens: 128_000,
    cost: { input: 4, output: 20, cacheRead: 0, cacheWrite: 0 },
  }),
];

const found = (search: string, among = models) =>
  modelList(among, search)
    .split('\n\n')[0]
    ?.split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/)[1]);

test('the table is aligned and ends with a usage hint', () => {
  expect(modelList(models)).toBe(
    `
provider  model            context  max-out  thinking  images  $/m-in  $/m-out
big       claude-opus-5-5       1M     128K  low-max   yes       4.00    20.00
big       claude-opus-10      131K       8K  -         -            -        -
small     tiny                 512       8K  -         -        0.075     0.30

To use one: tau --model big/claude-opus-5-5 (and :level after it, for how much it thinks)
`.trimStart(),
  );
});

test.each([
  ['opus 5.5', ['claude-opus-5-5']],
  ['OPUS', ['claude-opus-5-5', 'claude-opus-10']],
  ['big/claude', ['claude-opus-5-5', 'claude-opus-10']],
  ['10 opus', ['claude-opus-10']],
  ['small', ['tiny']],
  ['cld10', ['claude-opus-10']],
])('a search for %j', (search, ids) => {
  expect(found(search)).toEqual(ids);
});

test('an empty result names the way to more models', () => {
  expect(modelList(models, 'zzz')).toBe('No model matches "zzz". All of them: tau --list-models\n');
  expect(modelList([])).toMatch(/^No models\. Set a key such as ANTHROPIC_API_KEY/);
});

test('control characters and line ends in names are removed', () => {
  expect(modelList([model('own', 'a\u001b[2J\nb')])).toContain('own       a[2J b');
});

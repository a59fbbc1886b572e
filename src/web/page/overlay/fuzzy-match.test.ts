import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuzzyFilter, fuzzyScore } from './fuzzy-match.ts';

const items = [
  { group: 'OpenAI', words: 'openai GPT 6.1 Sol gpt-6.1-sol' },
  { group: 'Anthropic', words: 'anthropic Claude Opus 5.5 claude-opus-5-5' },
  { group: 'Anthropic', words: 'anthropic Claude Sonnet 5 claude-sonnet-5' },
  { group: 'OpenRouter', words: 'openrouter Claude Opus 5.5 anthropic/claude-opus-5.5' },
];

const found = (query: string) => fuzzyFilter(query, items).map(({ words }) => words.split(' ').at(-1));

it('an empty query keeps all items in order', () => {
  expect(fuzzyFilter('  ', items)).toBe(items);
});

it('every word has to match, in any order', () => {
  expect(found('opus anthropic')).toEqual(['claude-opus-5-5', 'anthropic/claude-opus-5.5']);
  expect(found('opus gpt')).toEqual([]);
});

it('letters in order match, with a lower score than a substring', () => {
  expect(found('snnt')).toEqual(['claude-sonnet-5']);
  expect(found('gpt6')).toEqual(['gpt-6.1-sol']);
  expect(fuzzyScore('opus', 'anthropic/claude-sonnet')).toBeUndefined();
  expect(fuzzyScore('opus', 'claude opus')).toBeGreaterThan(fuzzyScore('opus', 'claudeopus') ?? 0);
  expect(fuzzyScore('opus', 'claudeopus')).toBeGreaterThan(fuzzyScore('opus', 'o-p-u-s') ?? 0);
});

it('names are sorted by how much of them matched, and where', () => {
  const names = ['remodel', 'skill:model', 'm-o-d', 'Model', 'models', 'other'].map((words) => ({ words }));
  const fitting = (query: string) => fuzzyFilter(query, names).map(({ words }) => words);

  expect(fitting('MODEL')).toEqual(['Model', 'models', 'skill:model', 'remodel']);
  expect(fitting('mod')).toEqual(['Model', 'models', 'skill:model', 'remodel', 'm-o-d']);
});

it('groups stay together, best match first', () => {
  expect(fuzzyFilter('claude', items).map(({ group }) => group)).toEqual(['Anthropic', 'Anthropic', 'OpenRouter']);
});

it('a substring always matches, and more words never match more texts', () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  fc.assert(
    fc.property(word, word, word, (before, part, after) => {
      expect(fuzzyScore(part, before + part + after)).toBeGreaterThanOrEqual(2);
      expect(fuzzyFilter(`${part} ${after}`, items).every((item) => fuzzyFilter(part, items).includes(item))).toBe(
        true,
      );
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelGlob } from './model-pattern.ts';

test.each([
  ['anthropic/*', 'anthropic/claude-opus-5', true],
  ['ANTHROPIC/*OPUS*', 'anthropic/claude-opus-5', true],
  ['anthropic/CLAUDE-*', 'Anthropic/Claude-Opus-5', true],
  ['*opus*', 'claude-opus-5', true],
  ['*opus*', 'anthropic/claude-opus-5', false],
  ['**opus*', 'anthropic/claude-opus-5', true],
  ['openrouter/*', 'openrouter/anthropic/claude-opus-5', false],
  ['openrouter/**', 'openrouter/anthropic/claude-opus-5', true],
  ['gpt-?', 'gpt-5', true],
  ['gpt-?', 'gpt-5.1', false],
  ['gpt-?', 'gpt-/', false],
  ['gpt-[45]', 'gpt-5', true],
  ['gpt-[!45]', 'gpt-5', false],
  ['gpt-[^0-4]', 'gpt-5', true],
  ['gpt-[A-Z]', 'gpt-x', true],
  ['gpt-[5', 'gpt-[5', true],
  ['gpt-[5', 'gpt-5', false],
  ['*.1', 'gpt-511', false],
  ['*', '', true],
])('%s against %s: %s', (pattern, name, matches) => {
  expect(modelGlob(pattern)(name)).toBe(matches);
});

test('a name still matches if parts of it become wildcards', () => {
  const part = fc.stringMatching(/^[a-z0-9.-]{0,8}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(part, fc.boolean())), (parts) => {
      const name = parts.map(([text]) => text).join('');
      const pattern = parts.map(([text, isWild]) => (isWild ? '*' : text)).join('');
      expect(modelGlob(pattern)(name)).toBe(true);
    }),
  );
});

test('many wildcards take no long time', () => {
  expect(modelGlob(`${'*a'.repeat(500)}b`)('a'.repeat(2_000))).toBe(false);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ANYTHING, matchesSteps, type PatternStep, wildcardTest } from './wildcards.ts';

/** The definition of a pattern, without regard to cost. */
function matchesNaively(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const rest = pattern.slice(1);
  if (pattern[0] !== '*') return text[0] === pattern[0] && matchesNaively(rest, text.slice(1));
  return matchesNaively(rest, text) || (text !== '' && matchesNaively(pattern, text.slice(1)));
}

it('a pattern with * matches exactly what its definition matches', () => {
  const texts = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 9 });
  fc.assert(
    fc.property(texts('ab*'), texts('ab'), (pattern, text) => {
      expect(wildcardTest(pattern)(text)).toBe(matchesNaively(pattern, text));
    }),
    { numRuns: 1000 },
  );
});

it.each([
  ['mcp.*', 'mcp.query', true],
  ['mcp.*', 'mcpXquery', false],
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['a*b', 'a\nb', true],
  ['(a+)+$', '(a+)+$', true],
])('%s against %s: %s', (pattern, text, matches) => {
  expect(wildcardTest(pattern)(text)).toBe(matches);
});

it('[T28] each step tests each item at most once', () => {
  for (const size of [10, 100, 400]) {
    let tests = 0;
    const counted = ({ matches, ...step }: PatternStep<string>): PatternStep<string> => ({
      ...step,
      matches: (item) => {
        tests++;
        return matches(item);
      },
    });
    const letter = { matches: (item: string) => item === 'a' };
    const steps = Array.from({ length: size }, () => [ANYTHING, letter]).flat();

    expect(matchesSteps([...steps, { matches: () => false }].map(counted), 'a'.repeat(size))).toBe(false);
    expect(tests).toBeLessThanOrEqual((2 * size + 1) * size);
  }
});

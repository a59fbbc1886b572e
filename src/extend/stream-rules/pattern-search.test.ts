import { expect, it } from 'vitest';
import { type Pattern, patternOf } from './pattern.ts';
import { PatternSearch } from './pattern-search.ts';

it.each(['b+', '(?:x|b)+$'])('%s is found, and found again', (condition) => {
  const search = new PatternSearch(() => {});
  const pattern = patternOf(condition);

  for (let time = 0; time < 3; time++) {
    expect(search.finds(pattern, { text: 'aab', from: 1 })).toBe(true);
    expect(search.finds(pattern, { text: 'aac', from: 0 })).toBe(false);
  }
});

it('a pattern that would never end is given up, and only that one', () => {
  const givenUp: Pattern[] = [];
  const search = new PatternSearch((pattern) => givenUp.push(pattern));
  const endless = patternOf('(a+)+$');
  const view = { text: `${'a'.repeat(2000)}b`, from: 0 };

  const found = [endless, endless, patternOf('(a+)+b$')].map((pattern) => search.finds(pattern, view));

  expect(found).toEqual([false, false, true]);
  expect(givenUp).toEqual([endless]);
});

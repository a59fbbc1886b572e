import { expect, it } from 'vitest';
import { type Pattern, parsePattern } from './pattern.ts';
import { PatternSearch } from './pattern-search.ts';

it.each(['b+', '(?:x|b)+$'])('%s matches repeatedly', (condition) => {
  const search = new PatternSearch(() => {});
  const pattern = parsePattern(condition);

  for (let time = 0; time < 3; time++) {
    expect(search.matches(pattern, { text: 'aab', from: 1 })).toBe(true);
    expect(search.matches(pattern, { text: 'aac', from: 0 })).toBe(false);
  }
});

it('a pattern that times out is abandoned, and no other', () => {
  const abandoned: Pattern[] = [];
  const search = new PatternSearch((pattern) => abandoned.push(pattern));
  const endless = parsePattern('(a+)+$');
  const view = { text: `${'a'.repeat(2000)}b`, from: 0 };

  const found = [endless, endless, parsePattern('(a+)+b$')].map((pattern) => search.matches(pattern, view));

  expect(found).toEqual([false, false, true]);
  expect(abandoned).toEqual([endless]);
});

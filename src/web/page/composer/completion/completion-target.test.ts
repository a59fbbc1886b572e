import { describe, expect, it } from 'vitest';
import { completionTargetAt, mention } from './completion-target.ts';

/** The target at the `|` in a text. */
const targetIn = (marked: string) => {
  const target = completionTargetAt(marked.replace('|', ''), marked.indexOf('|'));
  return target && `${target.kind} ${target.query} ${target.from}-${target.to}`;
};

describe('completion target', () => {
  it.each([
    ['/|', 'command  0-1'],
    ['/mo|', 'command mo 0-3'],
    ['/mo| rest', 'command mo 0-3'],
    ['@|', 'file  0-1'],
    ['see @src/a|', 'file src/a 4-10'],
    ['see (@a|', 'file a 5-7'],
    ['see\n@a| and', 'file a 4-6'],
    ['see @"my fi|', 'file my fi 4-11'],
  ])('%j', (marked, target) => expect(targetIn(marked)).toBe(target));

  it.each(['', '|', 'a /b|', '/model |', '/mo|del', 'me@home|', '@a |', '@"a b" |', '!ls @a|'])(
    'none in %j',
    (marked) => expect(targetIn(marked)).toBeUndefined(),
  );
});

it.each([
  ['src/a.ts', '@src/a.ts '],
  ['src/', '@src/'],
  ['my file.txt', '@"my file.txt" '],
  ['my folder/', '@"my folder/'],
])('%j is mentioned as %j', (path, text) => expect(mention(path)).toBe(text));

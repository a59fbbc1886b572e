import { describe, expect, it } from 'vitest';
import { mention, wishAt } from './wish.ts';

/** What is wished for where `|` stands. */
const at = (marked: string) => {
  const wish = wishAt(marked.replace('|', ''), marked.indexOf('|'));
  return wish && `${wish.kind} ${wish.query} ${wish.from}-${wish.to}`;
};

describe('what is being named', () => {
  it.each([
    ['/|', 'command  0-1'],
    ['/mo|', 'command mo 0-3'],
    ['/mo| rest', 'command mo 0-3'],
    ['@|', 'file  0-1'],
    ['see @src/a|', 'file src/a 4-10'],
    ['see (@a|', 'file a 5-7'],
    ['see\n@a| and', 'file a 4-6'],
    ['see @"my fi|', 'file my fi 4-11'],
  ])('%j', (marked, wish) => expect(at(marked)).toBe(wish));

  it.each(['', '|', 'a /b|', '/model |', '/mo|del', 'me@home|', '@a |', '@"a b" |', '!ls @a|'])(
    'nothing: %j',
    (marked) => expect(at(marked)).toBeUndefined(),
  );
});

it.each([
  ['src/a.ts', '@src/a.ts '],
  ['src/', '@src/'],
  ['my file.txt', '@"my file.txt" '],
  ['my folder/', '@"my folder/'],
])('%j is mentioned as %j', (path, text) => expect(mention(path)).toBe(text));

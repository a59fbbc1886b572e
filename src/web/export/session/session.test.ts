import { expect, it } from 'vitest';
import { readSession } from './session.ts';
import { totalsOf } from './totals.ts';

const HEADER = { type: 'session', id: 's' };
const said = (id: string, parentId: string | null) => ({ type: 'message', id, parentId, message: { role: 'user' } });
const mark = (id: string, parentId: string | null) => ({ type: 'custom', customType: 'tau:leaf', id, parentId });

const read = (...lines: object[]) =>
  readSession(['{}', ...[HEADER, ...lines].map((line) => JSON.stringify(line))].join('\n'));

it('stands where the last line says that it was taken up again', async () => {
  const { leaf, entries } = await read(said('a', null), said('b', 'a'), mark('m', 'a'));

  expect(leaf?.id).toBe('a');
  expect(entries.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(leaf?.children.map(({ id }) => id)).toEqual(['b']);
});

it('does not take such a line for a branch, unless something hangs on it', async () => {
  const session = await read(
    said('a', null),
    said('b', 'a'),
    mark('m', 'a'),
    said('c', 'a'),
    mark('n', 'b'),
    said('d', 'n'),
  );

  expect(totalsOf(session.entries).branches).toBe(2);
  expect(session.entries.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'n', 'd']);
  expect(session.leaf?.id).toBe('d');
});

it('has the name that was given last, on whichever branch', async () => {
  const { name } = await read(
    said('a', null),
    { type: 'session_info', id: 'i', parentId: 'a', name: 'shop' },
    mark('m', 'a'),
  );

  expect(name).toBe('shop');
});

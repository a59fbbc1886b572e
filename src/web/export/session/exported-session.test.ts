import { expect, it } from 'vitest';
import { readSession, totalsOf } from './exported-session.ts';

const HEADER = { type: 'session', id: 's' };
const user = (id: string, parentId: string | null) => ({ type: 'message', id, parentId, message: { role: 'user' } });
const marker = (id: string, parentId: string | null) => ({ type: 'custom', customType: 'tau:leaf', id, parentId });

const read = (...lines: object[]) =>
  readSession(['{}', ...[HEADER, ...lines].map((line) => JSON.stringify(line))].join('\n'));

it('a session that ends with a leaf marker opens at the marked entry', async () => {
  const { leaf, entries } = await read(user('a', null), user('b', 'a'), marker('m', 'a'));

  expect(leaf?.id).toBe('a');
  expect(entries.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(leaf?.children.map(({ id }) => id)).toEqual(['b']);
});

it('a leaf marker counts as an entry only if it has children', async () => {
  const session = await read(
    user('a', null),
    user('b', 'a'),
    marker('m', 'a'),
    user('c', 'a'),
    marker('n', 'b'),
    user('d', 'n'),
  );

  expect(totalsOf(session.entries).branches).toBe(2);
  expect(session.entries.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'n', 'd']);
  expect(session.leaf?.id).toBe('d');
});

it('a session has its latest name, from any branch', async () => {
  const { name } = await read(
    user('a', null),
    { type: 'session_info', id: 'i', parentId: 'a', name: 'shop' },
    marker('m', 'a'),
  );

  expect(name).toBe('shop');
});

import { expect, it } from 'vitest';
import type { CompactionEntry } from '../../protocol/generated/vocabulary.ts';
import { assistant, call, result, prompt } from '../testing/sample-messages.ts';
import { fileOperations, touchedFiles } from './files.ts';

const using = (name: string, args: Record<string, unknown>) => ({ ...call('1', name), arguments: args });

const compaction = (details: unknown, fromHook = false) => ({ details, fromHook }) as CompactionEntry;

const filesOf = (...args: Parameters<typeof fileOperations>) => touchedFiles(fileOperations(...args));

it('lists what was read and what was changed, each once and in order', () => {
  const messages = [
    prompt('read z'),
    assistant([using('read', { path: 'b' }), using('read', { path: 'a' }), using('read', { path: 'b' })]),
    result('1'),
    assistant([using('write', { path: 'd' }), using('edit', { path: 'c' })]),
  ];

  expect(filesOf(messages, [])).toEqual({ readFiles: ['a', 'b'], modifiedFiles: ['c', 'd'] });
});

it('does not list a file as read that was changed, before or after', () => {
  const messages = [
    assistant([using('read', { path: 'a' }), using('write', { path: 'a' }), using('read', { path: 'a' })]),
  ];

  expect(filesOf(messages, [])).toEqual({ readFiles: [], modifiedFiles: ['a'] });
});

it('tells files that were written from those that were edited', () => {
  const messages = [
    assistant([using('write', { path: 'a' }), using('edit', { path: 'b' }), using('read', { path: 'b' })]),
  ];

  expect(fileOperations(messages, [compaction({ readFiles: ['c'], modifiedFiles: ['d'] })])).toEqual({
    read: new Set(['c', 'b']),
    written: new Set(['a']),
    edited: new Set(['d', 'b']),
  });
});

it('does not look at other tools, nor at calls without a path', () => {
  const messages = [assistant([using('bash', { path: 'a' }), using('read', {}), using('edit', { path: 3 })])];

  expect(filesOf(messages, [])).toEqual({ readFiles: [], modifiedFiles: [] });
});

it('adds what earlier summaries knew', () => {
  const messages = [assistant([using('write', { path: 'a' }), using('read', { path: 'x' })])];
  const before = compaction({ readFiles: ['a', 'b'], modifiedFiles: ['x'] });
  const branch = { details: { readFiles: ['c'], modifiedFiles: ['b'] } };

  expect(filesOf(messages, [before])).toEqual({ readFiles: ['b'], modifiedFiles: ['a', 'x'] });
  expect(filesOf(messages, [before, branch])).toEqual({ readFiles: ['c'], modifiedFiles: ['a', 'b', 'x'] });
});

it.each([
  ['a hook', compaction({ readFiles: ['a'], modifiedFiles: ['b'] }, true)],
  ['another program', compaction({ readFiles: 'a', modifiedFiles: [1, null, { path: 'b' }] })],
  ['nobody', compaction(undefined)],
  ['something else', compaction(null)],
])('takes nothing from details that %s wrote', (_who, before) => {
  expect(filesOf([], [before])).toEqual({ readFiles: [], modifiedFiles: [] });
});

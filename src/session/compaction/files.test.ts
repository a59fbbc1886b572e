import { expect, it } from 'vitest';
import type { CompactionEntry } from '../../protocol/generated/vocabulary.ts';
import { assistant, call, prompt, result } from '../testing/sample-messages.ts';
import { fileOperations, touchedFiles } from './files.ts';

const using = (name: string, args: Record<string, unknown>) => ({ ...call('1', name), arguments: args });

const compaction = (details: unknown, fromHook = false) => ({ details, fromHook }) as CompactionEntry;

const filesOf = (...args: Parameters<typeof fileOperations>) => touchedFiles(fileOperations(...args));

it('read and modified files are listed once each, sorted', () => {
  const messages = [
    prompt('read z'),
    assistant([using('read', { path: 'b' }), using('read', { path: 'a' }), using('read', { path: 'b' })]),
    result('1'),
    assistant([using('write', { path: 'd' }), using('edit', { path: 'c' })]),
  ];

  expect(filesOf(messages, [])).toEqual({ readFiles: ['a', 'b'], modifiedFiles: ['c', 'd'] });
});

it('a modified file is not listed as read, whatever the order of the calls', () => {
  const messages = [
    assistant([using('read', { path: 'a' }), using('write', { path: 'a' }), using('read', { path: 'a' })]),
  ];

  expect(filesOf(messages, [])).toEqual({ readFiles: [], modifiedFiles: ['a'] });
});

it('written files are distinguished from edited files', () => {
  const messages = [
    assistant([using('write', { path: 'a' }), using('edit', { path: 'b' }), using('read', { path: 'b' })]),
  ];

  expect(fileOperations(messages, [compaction({ readFiles: ['c'], modifiedFiles: ['d'] })])).toEqual({
    read: new Set(['c', 'b']),
    written: new Set(['a']),
    edited: new Set(['d', 'b']),
  });
});

it('other tools and calls without a path are ignored', () => {
  const messages = [assistant([using('bash', { path: 'a' }), using('read', {}), using('edit', { path: 3 })])];

  expect(filesOf(messages, [])).toEqual({ readFiles: [], modifiedFiles: [] });
});

it('files of earlier summaries are included', () => {
  const messages = [assistant([using('write', { path: 'a' }), using('read', { path: 'x' })])];
  const before = compaction({ readFiles: ['a', 'b'], modifiedFiles: ['x'] });
  const branch = { details: { readFiles: ['c'], modifiedFiles: ['b'] } };

  expect(filesOf(messages, [before])).toEqual({ readFiles: ['b'], modifiedFiles: ['a', 'x'] });
  expect(filesOf(messages, [before, branch])).toEqual({ readFiles: ['c'], modifiedFiles: ['a', 'b', 'x'] });
});

it.each([
  ['a hook', compaction({ readFiles: ['a'], modifiedFiles: ['b'] }, true)],
  ['another program', compaction({ readFiles: 'a', modifiedFiles: [1, null, { path: 'b' }] })],
  ['no program', compaction(undefined)],
  ['a null entry', compaction(null)],
])('details that %s wrote are ignored', (_who, before) => {
  expect(filesOf([], [before])).toEqual({ readFiles: [], modifiedFiles: [] });
});

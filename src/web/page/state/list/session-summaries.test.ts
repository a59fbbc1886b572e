import { expect, it } from 'vitest';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { filterByWords, folderName, groupSessions, recentFolders, sessionTitle, titleOf } from './session-summaries.ts';

const now = new Date(2026, 4, 20, 12).getTime();

const session = (id: string, more: Partial<SessionSummary> = {}): SessionSummary => ({
  path: `/sessions/${id}.jsonl`,
  id,
  firstMessage: `The words of ${id}`,
  messageCount: 2,
  lastModified: new Date(now).toISOString(),
  cwd: '/home/me/project',
  ...more,
});

const daysAgo = (days: number) => ({ lastModified: new Date(now - days * 86_400_000).toISOString() });
const ids = (sessions: readonly SessionSummary[]) => sessions.map(({ id }) => id);

it('a session title is its title, its name, its first message, or the word Session', () => {
  expect(sessionTitle(session('a', { name: 'Name', title: 'Title' }))).toBe('Title');
  expect(sessionTitle(session('a', { name: 'Name' }))).toBe('Name');
  expect(sessionTitle(session('a', { firstMessage: ' two\n lines ' }))).toBe('two lines');
  expect(sessionTitle(session('a', { firstMessage: '' }))).toBe('Session');
});

it('an open copy is titled as in the list, until it has a new name', () => {
  const copy = session('a', { name: 'Name', title: 'Own message', parentSession: '/origin' });
  const source = { messages: [], isWhole: true, isNew: false };

  expect(titleOf({ ...source, name: 'Name', summary: copy })).toBe('Own message');
  expect(titleOf({ ...source, name: 'New name', summary: copy })).toBe('New name');
  expect(titleOf({ ...source, name: 'Name', summary: { ...copy, parentSession: undefined } })).toBe('Name');
});

it('a folder name is the last part of the path, and the root is /', () => {
  expect([folderName('/home/me/project/'), folderName('/')]).toEqual(['project', '/']);
  expect([folderName('/home/me/project', 2), folderName('C:\\me\\project')]).toEqual(['me/project', 'project']);
});

it('the filter matches sessions that contain all words in name, first message or folder, in any case', () => {
  const all = [session('a', { name: 'Blue Whale' }), session('b', { cwd: '/home/me/whales' }), session('zebra')];

  expect(ids(filterByWords(all, 'whale'))).toEqual(['a', 'b']);
  expect(ids(filterByWords(all, 'WHALE blue'))).toEqual(['a']);
  expect(ids(filterByWords(all, 'words ZEBRA'))).toEqual(['zebra']);
  expect(filterByWords(all, '  ')).toBe(all);
});

it('groups by day and by folder come in the order of their newest sessions', () => {
  const all = [
    session('a'),
    session('b', { cwd: '/home/me/other' }),
    session('c', daysAgo(1)),
    session('d', daysAgo(3)),
    session('e', daysAgo(30)),
  ];

  const byDay = groupSessions(all, 'day', now).map((group) => [group.name, ids(group.sessions)]);
  const byFolder = groupSessions(all, 'folder', now).map((group) => [group.name, group.detail, ids(group.sessions)]);

  expect(byDay).toEqual([
    ['Today', ['a', 'b']],
    ['Yesterday', ['c']],
    ['This week', ['d']],
    ['Older', ['e']],
  ]);
  expect(byFolder).toEqual([
    ['project', '/home/me/project', ['a', 'c', 'd', 'e']],
    ['other', '/home/me/other', ['b']],
  ]);
  expect(recentFolders(all, 1)).toEqual(['/home/me/project']);
});

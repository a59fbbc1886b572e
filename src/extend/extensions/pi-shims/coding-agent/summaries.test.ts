import { expect, it } from 'vitest';
import type { SessionEntry } from '../../../../protocol/generated/vocabulary.ts';
import { findCutPoint, prepareBranchEntries } from './summaries.ts';

const timestamp = '2026-01-01T00:00:00.000Z';
const entry = (id: string, fields: object) => ({ id, parentId: null, timestamp, ...fields }) as SessionEntry;
const message = (id: string, role: string, content: unknown, fields: object = {}) =>
  entry(id, { type: 'message', message: { role, content, timestamp: 1, ...fields } });
const edit = (targetId: string, replacement: unknown) =>
  entry(`edit ${targetId}`, { type: 'context_edit', targetId, replacement });
const text = (value: string) => [{ type: 'text', text: value }];
const summary = (id: string, words: string) => entry(id, { type: 'branch_summary', fromId: 'x', summary: words });

it('a branch is prepared for a summary with its edits and without tool results', () => {
  const { messages } = prepareBranchEntries([
    message('u', 'user', 'first'),
    message('a', 'assistant', [{ type: 'toolCall', id: '1', name: 'read', arguments: { path: '/x' } }]),
    message('t', 'toolResult', text('the secret of the file'), { toolCallId: '1', toolName: 'read' }),
    message('b', 'assistant', text('long answer')),
    message('v', 'user', 'removed'),
    edit('b', { content: 'short' }),
    edit('v', null),
  ]);

  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
  expect(messages.at(-1)).toMatchObject({ content: text('short') });
});

it('an earlier summary is added while the budget is not nearly used', () => {
  const entries = [summary('s', 's'.repeat(40)), message('u', 'user', 'u'.repeat(40))];

  expect(prepareBranchEntries(entries, 15)).toMatchObject({ totalTokens: 20, messages: [{}, {}] });
  expect(prepareBranchEntries(entries, 11)).toMatchObject({ totalTokens: 10, messages: [{}] });
});

it('a cut keeps the entries without messages before it, which may split a turn', () => {
  const shell = entry('b', { type: 'message', message: { role: 'bashExecution', command: 'ls', output: 'o' } });
  const label = entry('l', { type: 'label', targetId: 'u', label: 'x' });
  const entries = [message('u', 'user', 'question'), message('a', 'assistant', text('answer')), label, shell];

  expect(findCutPoint(entries, 0, entries.length, 1)).toEqual({
    firstKeptEntryIndex: 2,
    turnStartIndex: 0,
    isSplitTurn: true,
  });
  expect(findCutPoint([label, ...entries.slice(0, 2)], 0, 3, 1000)).toMatchObject({ firstKeptEntryIndex: 0 });
  const result = message('t', 'toolResult', text('long result'));
  expect(findCutPoint([...entries, result], 0, 5, 1)).toMatchObject({ firstKeptEntryIndex: 2 });
  expect(findCutPoint([label], 0, 1, 1)).toMatchObject({ firstKeptEntryIndex: 0, isSplitTurn: false });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentMessage, SessionEntry } from '../protocol/generated/vocabulary.ts';
import { type EntryDraft, SessionLog } from '../store/sessions/session-log.ts';
import { addEntry, countEntries } from './session-stats.ts';
import { assistant, block, call, prompt, result, usage } from './testing/sample-messages.ts';

const priced = (total: number) =>
  usage(10, 20, { cacheRead: 3, cacheWrite: 4, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total } });

const drafts: readonly EntryDraft[] = [
  { type: 'message', message: prompt('hi') },
  { type: 'message', message: assistant([block('a'), call('1'), call('2')], { usage: priced(0.5) }) },
  { type: 'message', message: result('1') },
  { type: 'message', message: assistant([], { usage: priced(0.25), stopReason: 'aborted' }) },
  {
    type: 'message',
    message: { role: 'bashExecution', command: 'ls', output: '', cancelled: false, truncated: false, timestamp: 1 },
  },
  { type: 'message', message: { ...prompt('rules'), role: 'system' } as unknown as AgentMessage },
  { type: 'custom_message', customType: 'c', content: 'x', display: true },
  { type: 'usage', kind: 'title', provider: 'tau', model: 'scripted', usage: priced(1) },
  { type: 'compaction', summary: 's', firstKeptEntryId: 'x', tokensBefore: 1, usage: priced(2) },
  { type: 'compaction', summary: 's', firstKeptEntryId: 'x', tokensBefore: 1 },
  { type: 'branch_summary', fromId: 'x', summary: 's', usage: priced(4) },
  { type: 'model_change', provider: 'tau', modelId: 'scripted' },
];

function entriesOf(list: readonly EntryDraft[]): SessionEntry[] {
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  for (const draft of list) log.append(draft);
  return log.entries();
}

it('messages and all paid usage are counted', () => {
  expect(countEntries(entriesOf(drafts))).toEqual({
    userMessages: 1,
    assistantMessages: 2,
    toolCalls: 2,
    toolResults: 1,
    totalMessages: 5,
    tokens: { input: 50, output: 100, cacheRead: 15, cacheWrite: 20, total: 185 },
    cost: 7.75,
  });
});

it('counting entry by entry equals counting all at once, and never shrinks', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...drafts)), (list) => {
      const entries = entriesOf(list);
      const counts = countEntries([]);

      for (const entry of entries) {
        const before = structuredClone(counts);
        addEntry(counts, entry);
        expect(counts.tokens.total).toBeGreaterThanOrEqual(before.tokens.total);
        expect(counts.totalMessages).toBeGreaterThanOrEqual(before.totalMessages);
      }

      expect(counts).toEqual(countEntries(entries));
    }),
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentMessage, CompactionEntry, Params, SessionEntry } from '../../protocol/generated/vocabulary.ts';
import { type EntryDraft, SessionLog } from '../../store/sessions/session-log.ts';
import { prompt } from '../testing/sample-messages.ts';
import { contextOf, editedMessages, editsIn } from './context.ts';
import { MAX_MESSAGE_PAGE_BYTES, MessagePages } from './message-page.ts';

const drafts: Record<string, (target: string, name: string) => EntryDraft> = {
  user: (_, name) => ({ type: 'message', message: prompt(name) }),
  system: () => ({ type: 'message', message: { ...prompt('x'), role: 'system' } as unknown as AgentMessage }),
  custom: () => ({ type: 'custom', customType: 'c' }),
  custom_message: (_, content) => ({ type: 'custom_message', customType: 'c', content, display: false }),
  branch_summary: (_, summary) => ({ type: 'branch_summary', fromId: 'x', summary }),
  empty_summary: () => ({ type: 'branch_summary', fromId: 'x', summary: '' }),
  compaction: (target, summary) => ({ type: 'compaction', summary, firstKeptEntryId: target, tokensBefore: 1 }),
  lost_compaction: (_, summary) => ({ type: 'compaction', summary, firstKeptEntryId: 'missing', tokensBefore: 1 }),
  removal: (target) => ({ type: 'context_edit', targetId: target, replacement: null }),
  edit: (target, name) => ({ type: 'context_edit', targetId: target, replacement: prompt(`${name} instead`) }),
};

/** Any session; every entry has its own text. */
const anyLog: fc.Arbitrary<SessionLog> = fc
  .array(fc.tuple(fc.constantFrom(...Object.keys(drafts)), fc.nat()))
  .map((kinds) => {
    const log = SessionLog.inMemory({ cwd: '/srv/shop' });
    const ids: string[] = [];
    for (const [index, [kind, position]] of kinds.entries()) {
      const draft = drafts[kind]?.(ids[position % Math.max(1, ids.length)] ?? 'none', `entry ${index}`);
      if (draft) ids.push(log.append(draft).id);
    }
    return log;
  });

const anyLimit = fc.integer({ min: 1, max: 7 });

function* pagesOf(log: SessionLog, params: Params<'get_messages_page'>) {
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = new MessagePages(log).page({ ...params, cursor });
    cursor = page.nextCursor;
    yield page;
  }
}

it('all pages together are the conversation, for any session', () => {
  fc.assert(
    fc.property(anyLog, anyLimit, fc.constantFrom('start', 'end'), (log, limit, from) => {
      const read = [...pagesOf(log, { limit, from })];

      const pages = from === 'start' ? read : read.reverse();
      const whole = contextOf(log.branch());
      expect(pages.flatMap(({ messages }) => messages)).toEqual(whole);
      expect(pages.every(({ totalMessages }) => totalMessages === whole.length)).toBe(true);
      expect(pages.every(({ messages }) => messages.length <= limit)).toBe(true);
    }),
  );
});

it('[S64] pages of replaced messages and the conversation together are the whole branch', () => {
  fc.assert(
    fc.property(anyLog, anyLimit, (log, limit) => {
      const pages = [...pagesOf(log, { limit, replaced: true, from: 'end' })].reverse();

      const replaced = pages.flatMap(({ messages }) => messages);
      expect([...replaced, ...contextOf(log.branch())]).toEqual(everythingIn(log.branch()));
      expect(pages.every(({ totalMessages }) => totalMessages === replaced.length)).toBe(true);
      expect(pages.every(({ messages }) => messages.length <= limit)).toBe(true);
    }),
  );
});

/** Every message of a branch; the latest summary precedes the entries it kept, without the summaries among them. */
function everythingIn(branch: readonly SessionEntry[]): AgentMessage[] {
  const edits = editsIn(branch);
  const at = branch.findLastIndex(({ type }) => type === 'compaction');
  const latest = branch[at] as CompactionEntry | undefined;
  const before = branch.slice(0, Math.max(0, at));
  const found = before.findIndex(({ id }) => id === latest?.firstKeptEntryId);
  const first = found === -1 ? before.length : found;
  const kept = before.slice(first).filter(({ type }) => type !== 'compaction');
  const order = [...before.slice(0, first), ...(latest ? [latest] : []), ...kept, ...branch.slice(at + 1)];
  return order.flatMap((entry) => editedMessages(entry, edits));
}

it('a cursor stays valid on another branch that contains its entry', () => {
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  const [root, left] = ['root', 'left'].map((text) => log.append({ type: 'message', message: prompt(text) }).id);
  const { nextCursor: afterRoot } = new MessagePages(log).page({ limit: 1 });
  log.append({ type: 'message', message: prompt('left too') });
  const { nextCursor: afterLeft } = new MessagePages(log).page({ limit: 2 });
  log.moveLeaf(root ?? null);
  log.append({ type: 'message', message: prompt('right') });

  expect(left).toBeDefined();
  expect(new MessagePages(log).page({ cursor: afterRoot }).messages).toEqual([prompt('right')]);
  expect(() => new MessagePages(log).page({ cursor: afterLeft })).toThrow(/no longer the one/);
});

it('[G34] no page exceeds the size limit unless one message does, for any sizes', () => {
  const anySizes = fc.array(fc.integer({ min: 1, max: 2 * MAX_MESSAGE_PAGE_BYTES }), { minLength: 1, maxLength: 12 });
  const anyParams = fc.record({
    limit: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    from: fc.constantFrom('start' as const, 'end' as const),
  });
  fc.assert(
    fc.property(anySizes, anyParams, (sizes, params) => {
      const log = SessionLog.inMemory({ cwd: '/srv/shop' });
      for (const size of sizes) log.append({ type: 'message', message: prompt('\u00e9'.repeat(Math.ceil(size / 2))) });
      const read = [...pagesOf(log, params)];

      const pages = params.from === 'start' ? read : read.reverse();
      expect(pages.flatMap(({ messages }) => messages)).toEqual(contextOf(log.branch()));
      for (const { messages } of pages) {
        const bytes = Buffer.byteLength(JSON.stringify(messages));
        expect(messages.length === 1 || bytes <= MAX_MESSAGE_PAGE_BYTES + 1).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});

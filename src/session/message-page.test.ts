import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentMessage } from '../protocol/generated/vocabulary.ts';
import { type EntryDraft, SessionLog } from '../store/sessions/session-log.ts';
import { contextOf } from './context.ts';
import { MessagePages } from './message-page.ts';
import { said } from './testing/sample-messages.ts';

const drafts: Record<string, (target: string) => EntryDraft> = {
  user: () => ({ type: 'message', message: said('x') }),
  system: () => ({ type: 'message', message: { ...said('x'), role: 'system' } as unknown as AgentMessage }),
  custom: () => ({ type: 'custom', customType: 'c' }),
  custom_message: () => ({ type: 'custom_message', customType: 'c', content: 'x', display: false }),
  branch_summary: () => ({ type: 'branch_summary', fromId: 'x', summary: 's' }),
  empty_summary: () => ({ type: 'branch_summary', fromId: 'x', summary: '' }),
  compaction: (target) => ({ type: 'compaction', summary: 's', firstKeptEntryId: target, tokensBefore: 1 }),
  lost_compaction: () => ({ type: 'compaction', summary: 's', firstKeptEntryId: 'missing', tokensBefore: 1 }),
  removal: (target) => ({ type: 'context_edit', targetId: target, replacement: null }),
  edit: (target) => ({ type: 'context_edit', targetId: target, replacement: said('other') }),
};

function* pagesOf(log: SessionLog, limit: number) {
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = new MessagePages(log).page({ limit, cursor });
    cursor = page.nextCursor;
    yield page;
  }
}

it('has pages that are the conversation together, whatever the session holds', () => {
  const anyKind = fc.constantFrom(...Object.keys(drafts));
  fc.assert(
    fc.property(fc.array(fc.tuple(anyKind, fc.nat())), fc.integer({ min: 1, max: 7 }), (kinds, limit) => {
      const log = SessionLog.inMemory({ cwd: '/srv/shop' });
      const ids: string[] = [];
      for (const [kind, place] of kinds) {
        const draft = drafts[kind]?.(ids[place % Math.max(1, ids.length)] ?? 'none');
        if (draft) ids.push(log.append(draft).id);
      }

      const pages = [...pagesOf(log, limit)];

      const whole = contextOf(log.branch());
      expect(pages.flatMap(({ messages }) => messages)).toEqual(whole);
      expect(pages.every(({ totalMessages }) => totalMessages === whole.length)).toBe(true);
      expect(pages.every(({ messages }) => messages.length <= limit)).toBe(true);
    }),
  );
});

it('goes on from a cursor on another branch as long as what was read is part of it', () => {
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  const [root, left] = ['root', 'left'].map((text) => log.append({ type: 'message', message: said(text) }).id);
  const { nextCursor: afterRoot } = new MessagePages(log).page({ limit: 1 });
  log.append({ type: 'message', message: said('left too') });
  const { nextCursor: afterLeft } = new MessagePages(log).page({ limit: 2 });
  log.moveLeaf(root ?? null);
  log.append({ type: 'message', message: said('right') });

  expect(left).toBeDefined();
  expect(new MessagePages(log).page({ cursor: afterRoot }).messages).toEqual([said('right')]);
  expect(() => new MessagePages(log).page({ cursor: afterLeft })).toThrow(/no longer the one/);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { type EntryDraft, SessionLog } from '../../store/sessions/session-log.ts';
import { assistant, block, brief, prompt } from '../testing/sample-messages.ts';
import { contextOf, countContext } from './context.ts';

const message = (text: string): EntryDraft => ({ type: 'message', message: prompt(text) });

const compaction = (summary: string, firstKeptEntryId: string): EntryDraft => ({
  type: 'compaction',
  summary,
  firstKeptEntryId,
  tokensBefore: 1000,
});

/** A session of these drafts; a draft may depend on the ids of those before it. */
function session(...drafts: (EntryDraft | ((ids: readonly string[]) => EntryDraft))[]): SessionLog {
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  const ids: string[] = [];
  for (const draft of drafts) ids.push(log.append(typeof draft === 'function' ? draft(ids) : draft).id);
  return log;
}

const context = (log: SessionLog) => contextOf(log.branch()).map(brief);

describe('the context', () => {
  it('holds the messages in order, without other entries', () => {
    const log = session(
      { type: 'model_change', provider: 'tau', modelId: 'scripted' },
      message('one'),
      { type: 'custom', customType: 'state', data: { n: 1 } },
      { type: 'message', message: assistant([block('two')]) },
      { type: 'label', targetId: 'x', label: 'here' },
      { type: 'session_info', name: 'a name' },
    );

    expect(context(log)).toEqual(['user: one', 'assistant: two']);
  });

  it('omits the system prompt that later versions of pi store', () => {
    const system = { role: 'system', content: 'rules', timestamp: 1 } as unknown as AgentMessage;

    expect(context(session({ type: 'message', message: system }, message('one')))).toEqual(['user: one']);
  });

  it('holds custom messages of extensions unchanged', () => {
    const log = session({
      type: 'custom_message',
      customType: 'note',
      content: 'look',
      display: true,
      details: { a: 1 },
    });

    const [entry] = log.branch();
    expect(contextOf(log.branch())).toEqual([
      {
        role: 'custom',
        customType: 'note',
        content: 'look',
        display: true,
        details: { a: 1 },
        timestamp: Date.parse(entry?.timestamp ?? ''),
      },
    ]);
  });

  it('holds the summary of an abandoned branch unless it is empty', () => {
    const log = session(
      { type: 'branch_summary', fromId: 'x', summary: 'tried it' },
      { type: 'branch_summary', fromId: 'y', summary: '' },
    );

    expect(context(log)).toEqual(['branchSummary: tried it']);
  });

  it('covers the active branch only', () => {
    const log = session(message('root'), message('left'));
    log.moveLeaf(log.entries()[0]?.id ?? null);
    log.append(message('right'));

    expect(context(log)).toEqual(['user: root', 'user: right']);
  });
});

describe('after a compaction', () => {
  it('the context is the summary, the kept entries and the later ones', () => {
    const log = session(message('old'), message('kept'), (ids) => compaction('sum', ids[1] ?? ''), message('new'));

    expect(context(log)).toEqual(['compactionSummary: sum', 'user: kept', 'user: new']);
  });

  it('only the latest summary remains, even if an earlier one lies among the kept entries', () => {
    const log = session(
      message('a'),
      message('b'),
      (ids) => compaction('first', ids[0] ?? ''),
      message('c'),
      (ids) => compaction('second', ids[1] ?? ''),
      message('d'),
    );

    expect(context(log)).toEqual(['compactionSummary: second', 'user: b', 'user: c', 'user: d']);
  });

  it('nothing is kept when the first kept entry is missing', () => {
    const log = session(message('old'), compaction('sum', 'missing'), message('new'));

    expect(context(log)).toEqual(['compactionSummary: sum', 'user: new']);
  });
});

describe('a context edit', () => {
  it('removes or replaces a message; the last edit counts', () => {
    const log = session(
      message('a'),
      message('b'),
      message('c'),
      (ids) => ({ type: 'context_edit', targetId: ids[0] ?? '', replacement: null }),
      (ids) => ({ type: 'context_edit', targetId: ids[1] ?? '', replacement: null }),
      (ids) => ({ type: 'context_edit', targetId: ids[1] ?? '', replacement: prompt('B') }),
    );

    expect(context(log)).toEqual(['user: B', 'user: c']);
  });
});

it('countContext equals the length of the context for any session', () => {
  const anyKind = fc.constantFrom(
    'user',
    'system',
    'custom',
    'custom_message',
    'branch_summary',
    'empty_summary',
    'model',
    'compaction',
    'lost_compaction',
    'edit',
  );
  const drafts: Record<string, (target: string) => EntryDraft> = {
    user: () => message('x'),
    system: () => ({ type: 'message', message: { ...prompt('x'), role: 'system' } as unknown as AgentMessage }),
    custom: () => ({ type: 'custom', customType: 'c' }),
    custom_message: () => ({ type: 'custom_message', customType: 'c', content: 'x', display: false }),
    branch_summary: () => ({ type: 'branch_summary', fromId: 'x', summary: 's' }),
    empty_summary: () => ({ type: 'branch_summary', fromId: 'x', summary: '' }),
    model: () => ({ type: 'model_change', provider: 'p', modelId: 'm' }),
    compaction: (target) => compaction('s', target),
    lost_compaction: () => compaction('s', 'missing'),
    edit: (target) => ({ type: 'context_edit', targetId: target, replacement: null }),
  };
  fc.assert(
    fc.property(fc.array(fc.tuple(anyKind, fc.nat())), (kinds) => {
      const log = session(
        ...kinds.map(([kind, position]) => (ids: readonly string[]) => {
          const target = ids[position % Math.max(1, ids.length)] ?? 'none';
          return drafts[kind]?.(target) ?? message('x');
        }),
      );

      expect(countContext(log)).toBe(contextOf(log.branch()).length);
    }),
  );
});

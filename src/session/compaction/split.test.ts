import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { type EntryDraft, SessionLog } from '../../store/sessions/session-log.ts';
import { contextOf } from '../context/context.ts';
import { assistant, block, brief, call, prompt, result } from '../testing/sample-messages.ts';
import { splitBranch } from './split.ts';

const LONG = 'x'.repeat(400);

function session(...messages: AgentMessage[]): SessionLog {
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  for (const message of messages) log.append({ type: 'message', message });
  return log;
}

const split = (log: SessionLog, keep: number) => splitBranch(log.branch(), keep);

/** Stores the compaction; returns the conversation after it, without the summary. */
function compacted(log: SessionLog, firstKeptEntryId: string, summary = 'S'): AgentMessage[] {
  log.append({ type: 'compaction', summary, firstKeptEntryId, tokensBefore: 1 });
  return contextOf(log.branch()).slice(1);
}

/** Result of a split as short texts. */
function outcome(log: SessionLog, keep: number) {
  const made = split(log, keep);
  return (
    made && {
      history: made.history.map(brief),
      prefix: made.prefix.map(brief),
      kept: compacted(log, made.firstKeptEntryId).map(brief),
    }
  );
}

describe('a cut', () => {
  it('lies between turns if possible', () => {
    const log = session(prompt('one'), assistant([block('1')]), prompt(LONG), assistant([block('2')]));

    expect(outcome(log, 50)).toEqual({
      history: ['user: one', 'assistant: 1'],
      prefix: [],
      kept: [`user: ${LONG}`, 'assistant: 2'],
    });
  });

  it('splits a turn that is too long by itself', () => {
    const log = session(
      prompt('one'),
      assistant([block('1')]),
      prompt('two'),
      assistant([call('a')]),
      result('a'),
      assistant([block(LONG)]),
    );

    expect(outcome(log, 50)).toEqual({
      history: ['user: one', 'assistant: 1'],
      prefix: ['user: two', 'assistant: a', 'result a'],
      kept: [`assistant: ${LONG}`],
    });
  });

  it('precedes the call of a result that is longer than the kept size', () => {
    const log = session(
      prompt('one'),
      assistant([block('1')]),
      prompt('two'),
      assistant([call('a')]),
      result('a', LONG),
    );

    expect(outcome(log, 50)).toEqual({
      history: ['user: one', 'assistant: 1'],
      prefix: ['user: two'],
      kept: ['assistant: a', 'result a'],
    });
  });

  it('never separates a call from its result, even with messages between them', () => {
    const log = session(prompt('one'), assistant([call('a')]), prompt(LONG), result('a'), prompt('two'));

    expect(outcome(log, 50)?.kept).toEqual(['user: two']);
  });

  it('keeps a model change with the messages after it', () => {
    const log = session(prompt('one'), assistant([block('1')]));
    const change = log.append({ type: 'model_change', provider: 'tau', modelId: 'scripted' });
    log.append({ type: 'message', message: prompt(LONG) });

    expect(split(log, 50)?.firstKeptEntryId).toBe(change.id);
  });
});

describe('there is no split', () => {
  it.each([
    ['of an empty session', []],
    ['of less than the kept size', [prompt('one'), assistant([block('1')])]],
    ['of one message, however long', [prompt(LONG)]],
    ['of one call with its result', [assistant([call('a')]), result('a', LONG)]],
  ])('%s', (_what, messages) => {
    expect(split(session(...messages), 50)).toBeUndefined();
  });

  it('of messages that a compaction has kept, without new ones', () => {
    const log = session(prompt(LONG), assistant([block('1')]), prompt(LONG), assistant([block('2')]));
    compacted(log, split(log, 50)?.firstKeptEntryId ?? '');
    log.append({ type: 'model_change', provider: 'tau', modelId: 'scripted' });

    expect(split(log, 50)).toBeUndefined();
  });
});

describe('the previous summary', () => {
  it('is passed on without its file lists, which the split contains', () => {
    const log = session(prompt(LONG), assistant([block('1')]), prompt(LONG));
    log.append({
      type: 'compaction',
      summary: 'S\n\n<read-files>\na\n</read-files>',
      firstKeptEntryId: split(log, 50)?.firstKeptEntryId ?? '',
      tokensBefore: 1,
      details: { readFiles: ['a'], modifiedFiles: [] },
    });
    log.append({ type: 'message', message: prompt(LONG) });

    expect(split(log, 50)).toMatchObject({ previousSummary: 'S', fileOps: { read: new Set(['a']) } });
  });

  it('stands for everything before it when its first kept entry is missing', () => {
    const log = session(prompt('gone'), prompt('gone, too'));
    log.append({ type: 'compaction', summary: 'S', firstKeptEntryId: 'nowhere', tokensBefore: 1 });
    for (const text of ['one', LONG]) log.append({ type: 'message', message: prompt(text) });

    expect(outcome(log, 50)).toEqual({ history: ['user: one'], prefix: [], kept: [`user: ${LONG}`] });
  });
});

const size = fc.constantFrom(1, 40, 100, 400);

/** Parts of a conversation as agents write them, and odd ones as other programs may. */
const stretch = fc.oneof(
  fc.record({ kind: fc.constant('user' as const), size }),
  fc.record({ kind: fc.constant('answer' as const), size }),
  fc.record({
    kind: fc.constant('calls' as const),
    size,
    count: fc.integer({ min: 1, max: 3 }),
    between: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('lost call' as const) }),
  fc.record({ kind: fc.constant('lost result' as const), size }),
  fc.record({ kind: fc.constant('command' as const), size }),
  fc.record({ kind: fc.constant('note' as const), size }),
  fc.record({ kind: fc.constant('model' as const) }),
  fc.record({ kind: fc.constant('edit' as const), target: fc.nat(), dropped: fc.boolean() }),
  fc.record({ kind: fc.constant('branch' as const), target: fc.nat() }),
);

type Stretch = typeof stretch extends fc.Arbitrary<infer T> ? T : never;

/** Appends a part to the log; every text is unique. */
function grow(log: SessionLog, part: Stretch, next: () => string): void {
  const text = (length: number) => next().padEnd(length, '.');
  const add = (message: AgentMessage) => log.append({ type: 'message', message });
  switch (part.kind) {
    case 'user':
      add(prompt(text(part.size)));
      return;
    case 'answer':
      add(assistant([block(text(part.size))]));
      return;
    case 'calls': {
      const ids = Array.from({ length: part.count }, next);
      add(assistant(ids.map((id) => call(id))));
      if (part.between) add(prompt(text(part.size)));
      for (const id of ids) add(result(id, text(part.size)));
      return;
    }
    case 'lost call':
      add(assistant([call(next())]));
      return;
    case 'lost result':
      add(result(next(), text(part.size)));
      return;
    case 'command':
      add({
        role: 'bashExecution',
        command: next(),
        output: text(part.size),
        cancelled: false,
        truncated: false,
        timestamp: 1,
      });
      return;
    case 'note':
      log.append({ type: 'custom_message', customType: 'note', content: text(part.size), display: true });
      return;
    case 'model':
      log.append({ type: 'model_change', provider: 'tau', modelId: 'scripted' });
      return;
    case 'edit': {
      const texts = log.branch().filter((entry) => entry.type === 'message' && entry.message.role === 'user');
      const target = texts[part.target % Math.max(texts.length, 1)];
      const replacement = part.dropped ? null : prompt(next());
      if (target) log.append({ type: 'context_edit', targetId: target.id, replacement } as EntryDraft);
      return;
    }
    case 'branch': {
      const branch = log.branch();
      log.moveLeaf(branch[part.target % Math.max(branch.length, 1)]?.id ?? null);
      return;
    }
    default:
      part satisfies never;
  }
}

const isPaired = (messages: readonly AgentMessage[], all: readonly AgentMessage[]) => {
  const calls = (from: readonly AgentMessage[]) =>
    from.flatMap((message) =>
      message.role === 'assistant' ? message.content.flatMap((b) => (b.type === 'toolCall' ? [b.id] : [])) : [],
    );
  const made = new Set(calls(all));
  const own = new Set(calls(messages));
  return messages.every(
    (message) => message.role !== 'toolResult' || !made.has(message.toolCallId) || own.has(message.toolCallId),
  );
};

describe('in any tree', () => {
  const stretches = fc.array(stretch, { maxLength: 25 });
  const keep = fc.integer({ min: 0, max: 200 });

  it('a split loses and reorders nothing, never separates a call from its result, and starts the kept part with neither', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(stretches, keep), { minLength: 1, maxLength: 4 }), (rounds) => {
        const log = SessionLog.inMemory({ cwd: '/srv/shop' });
        let count = 0;
        for (const [parts, limit] of rounds) {
          for (const part of parts) grow(log, part, () => `t${++count}`);
          const before = contextOf(log.branch());
          const conversation = before[0]?.role === 'compactionSummary' ? before.slice(1) : before;
          const made = split(log, limit);
          if (!made) continue;
          const { history, prefix } = made;
          const kept = compacted(log, made.firstKeptEntryId, `S${count}`);

          expect([...history, ...prefix, ...kept]).toEqual(conversation);
          expect(history.length + prefix.length).toBeGreaterThan(0);
          expect(kept[0]?.role).not.toBe('toolResult');
          expect(kept.length).toBeGreaterThan(0);
          expect(isPaired(kept, conversation) && isPaired([...history, ...prefix], conversation)).toBe(true);
          expect(contextOf(log.branch())[0]).toMatchObject({ summary: `S${count}` });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('messages that a compaction dropped never return', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(stretches, keep), { minLength: 2, maxLength: 5 }), (rounds) => {
        const log = SessionLog.inMemory({ cwd: '/srv/shop' });
        const dropped = new Set<string>();
        let count = 0;
        for (const [parts, limit] of rounds) {
          // An abandoned branch takes its compactions with it.
          for (const part of parts)
            if (part.kind !== 'branch' && part.kind !== 'edit') grow(log, part, () => `t${++count}`);
          const made = split(log, limit);
          if (!made) continue;
          const taken = [...made.history, ...made.prefix].map((message) => JSON.stringify(message));
          expect(taken.filter((text) => dropped.has(text))).toEqual([]);
          for (const text of taken) dropped.add(text);
          const kept = compacted(log, made.firstKeptEntryId);
          expect(kept.map((message) => JSON.stringify(message)).filter((text) => dropped.has(text))).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { type EntryDraft, SessionLog } from '../../store/sessions/session-log.ts';
import { contextOf } from '../context.ts';
import { assistant, call, result, prompt, brief, block } from '../testing/sample-messages.ts';
import { splitBranch } from './split.ts';

const LONG = 'x'.repeat(400);

function session(...messages: AgentMessage[]): SessionLog {
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  for (const message of messages) log.append({ type: 'message', message });
  return log;
}

const split = (log: SessionLog, keep: number) => splitBranch(log.branch(), keep);

/** Carries out a plan; answers what is said from then on, without the summary. */
function compacted(log: SessionLog, firstKeptEntryId: string, summary = 'S'): AgentMessage[] {
  log.append({ type: 'compaction', summary, firstKeptEntryId, tokensBefore: 1 });
  return contextOf(log.branch()).slice(1);
}

/** What a plan comes to, in a few words. */
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
  it('goes between turns where it can', () => {
    const log = session(prompt('one'), assistant([block('1')]), prompt(LONG), assistant([block('2')]));

    expect(outcome(log, 50)).toEqual({
      history: ['user: one', 'assistant: 1'],
      prefix: [],
      kept: [`user: ${LONG}`, 'assistant: 2'],
    });
  });

  it('goes through a turn that is too long by itself', () => {
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

  it('goes before the call of a result that is longer than what is to be kept', () => {
    const log = session(prompt('one'), assistant([block('1')]), prompt('two'), assistant([call('a')]), result('a', LONG));

    expect(outcome(log, 50)).toEqual({
      history: ['user: one', 'assistant: 1'],
      prefix: ['user: two'],
      kept: ['assistant: a', 'result a'],
    });
  });

  it('does not go between a call and its result, though something else was said between them', () => {
    const log = session(prompt('one'), assistant([call('a')]), prompt(LONG), result('a'), prompt('two'));

    expect(outcome(log, 50)?.kept).toEqual(['user: two']);
  });

  it('leaves a change of the model with what came after it', () => {
    const log = session(prompt('one'), assistant([block('1')]));
    const change = log.append({ type: 'model_change', provider: 'tau', modelId: 'scripted' });
    log.append({ type: 'message', message: prompt(LONG) });

    expect(split(log, 50)?.firstKeptEntryId).toBe(change.id);
  });
});

describe('there is no plan', () => {
  it.each([
    ['for nothing', []],
    ['for less than is to be kept', [prompt('one'), assistant([block('1')])]],
    ['for one message, however long', [prompt(LONG)]],
    ['for one call with its result', [assistant([call('a')]), result('a', LONG)]],
  ])('%s', (_what, messages) => {
    expect(split(session(...messages), 50)).toBeUndefined();
  });

  it('for what a compaction has kept and nothing more', () => {
    const log = session(prompt(LONG), assistant([block('1')]), prompt(LONG), assistant([block('2')]));
    compacted(log, split(log, 50)?.firstKeptEntryId ?? '');
    log.append({ type: 'model_change', provider: 'tau', modelId: 'scripted' });

    expect(split(log, 50)).toBeUndefined();
  });
});

describe('the summary before', () => {
  it('is handed on without its lists of files, which the plan has', () => {
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

  it('counts for all, where what it kept is not there', () => {
    const log = session(prompt('gone'), prompt('gone, too'));
    log.append({ type: 'compaction', summary: 'S', firstKeptEntryId: 'nowhere', tokensBefore: 1 });
    for (const text of ['one', LONG]) log.append({ type: 'message', message: prompt(text) });

    expect(outcome(log, 50)).toEqual({ history: ['user: one'], prefix: [], kept: [`user: ${LONG}`] });
  });
});

const size = fc.constantFrom(1, 40, 100, 400);

/** A stretch of conversation as agents make it, and odd ones as other programs may. */
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

/** Puts a stretch into the log; every text is another one. */
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

describe('whatever the tree', () => {
  const stretches = fc.array(stretch, { maxLength: 25 });
  const keep = fc.integer({ min: 0, max: 200 });

  it('nothing is lost or moved, no call is parted from its result, and what is kept begins with neither', () => {
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

  it('what one compaction has dropped, none takes up again', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(stretches, keep), { minLength: 2, maxLength: 5 }), (rounds) => {
        const log = SessionLog.inMemory({ cwd: '/srv/shop' });
        const dropped = new Set<string>();
        let count = 0;
        for (const [parts, limit] of rounds) {
          // A branch that is left takes its compactions with it.
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

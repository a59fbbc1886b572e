import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { MessagePages } from '../../session/context/message-page.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import { emptyHistory, type MessageHistory, mergeSnapshot, prependPage } from './history.ts';

// A session, and the history of a client that gets a snapshot whenever the branch changes.
class SyncedHistory {
  readonly #log = SessionLog.inMemory({ cwd: '/srv/shop' });
  readonly #ids: string[] = [];
  history: MessageHistory = emptyHistory;

  // Equal messages with equal timestamps occur on purpose.
  append(content: string): void {
    const message: AgentMessage = { role: 'user', content, timestamp: 1 };
    this.#ids.push(this.#log.append({ type: 'message', message }).id);
    this.history = { ...this.history, messages: [...this.history.messages, message] };
  }

  compact(position: number): void {
    const firstKeptEntryId = this.#at(position);
    if (firstKeptEntryId === undefined) return;
    this.#log.append({ type: 'compaction', summary: `summary ${this.#log.size}`, firstKeptEntryId, tokensBefore: 1 });
  }

  edit(position: number, content: string | null): void {
    const targetId = this.#at(position);
    if (targetId === undefined) return;
    const replacement = content === null ? null : { role: 'user', content, timestamp: 1 };
    this.#log.append({ type: 'context_edit', targetId, replacement });
  }

  moveTo(position: number): void {
    this.#log.moveLeaf(this.#at(position) ?? null);
  }

  sync(tail: number): void {
    const { messages, nextCursor } = new MessagePages(this.#log).page({ from: 'end', limit: tail });
    this.history = mergeSnapshot(this.history, { messages: structuredClone(messages), cursor: nextCursor });
  }

  // Reads one more page; returns whether there was one.
  read(limit: number): boolean {
    const { earlier } = this.history;
    if (!earlier) return false;
    const page = new MessagePages(this.#log).page({ ...earlier, limit });
    this.history = prependPage(this.history, earlier, structuredClone(page));
    return true;
  }

  // Every message of the branch, including those that summaries replaced.
  get whole(): readonly AgentMessage[] {
    const pages = new MessagePages(this.#log);
    const limit = 1000;
    return [...pages.page({ limit, replaced: true }).messages, ...pages.page({ limit }).messages];
  }

  // The number of messages in all branches.
  get length(): number {
    return this.#ids.length;
  }

  #at(position: number): string | undefined {
    const branch = new Set(this.#log.branch().map(({ id }) => id));
    const ids = this.#ids.filter((id) => branch.has(id));
    return ids[position % ids.length];
  }
}

type Step = (client: SyncedHistory) => void;

const position = fc.nat(30);
const word = fc.constantFrom('a', 'b', 'c');
const size = fc.integer({ min: 1, max: 6 });

const reads = size.map(
  (limit): Step =>
    (client) =>
      void client.read(limit),
);
const syncs = size.map(
  (tail): Step =>
    (client) =>
      client.sync(tail),
);

// Changes the conversation, then sends a partial snapshot.
const thenSync = (steps: fc.Arbitrary<Step>) =>
  fc.tuple(steps, syncs).map(
    ([step, sync]): Step =>
      (client) => {
        step(client);
        sync(client);
      },
  );

const compacts = thenSync(position.map((at) => (client) => client.compact(at)));
const moves = thenSync(position.map((at) => (client) => client.moveTo(at)));
const edits = thenSync(
  fc.tuple(position, fc.option(word)).map(
    ([at, content]) =>
      (client) =>
        client.edit(at, content),
  ),
);
const appends = word.map(
  (content): Step =>
    (client) =>
      client.append(content),
);

const anySteps = fc.array(
  fc.oneof({ arbitrary: appends, weight: 4 }, { arbitrary: reads, weight: 2 }, syncs, compacts, moves, edits),
  { maxLength: 40 },
);

it('[V40] confirmed messages are always the end of the conversation', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const client = new SyncedHistory();
      for (const step of steps) {
        step(client);
        const { messages, unconfirmed, earlier } = client.history;
        const all = [...unconfirmed, ...messages];

        expect(messages).toEqual(endOf(client.whole, messages.length));
        if (!earlier) expect(messages).toEqual(client.whole);
        expect(new Set(all).size).toBe(all.length);
      }
    }),
    { numRuns: 300 },
  );
});

it('[V40] reading every page loads the whole conversation after any changes', () => {
  fc.assert(
    fc.property(anySteps, size, (steps, limit) => {
      const client = new SyncedHistory();
      for (const step of steps) step(client);
      while (client.read(limit));

      expect(client.history).toEqual({ ...emptyHistory, messages: client.whole });
    }),
    { numRuns: 300 },
  );
});

it('[V40] unconfirmed messages lack only summaries, if all messages differ and none was edited', () => {
  const appendsUnique = fc.constant<Step>((client) => client.append(`message ${client.length}`));
  const steps = fc.oneof(
    { arbitrary: appendsUnique, weight: 4 },
    { arbitrary: reads, weight: 2 },
    syncs,
    compacts,
    moves,
  );
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 40 }), (all) => {
      const client = new SyncedHistory();
      for (const step of all) {
        step(client);
        const known = withoutSummaries(client.history.messages);

        expect(known).toEqual(endOf(withoutSummaries(client.whole), known.length));
      }
    }),
    { numRuns: 300 },
  );
});

const endOf = <T>(items: readonly T[], length: number) => items.slice(items.length - length);

const withoutSummaries = (messages: readonly AgentMessage[]) =>
  messages.filter(({ role }) => role !== 'compactionSummary');

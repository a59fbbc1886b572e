import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentMessage } from '../protocol/generated/vocabulary.ts';
import { MessagePages } from '../session/context/message-page.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import { type Known, merged, nothingKnown, withEarlier } from './earlier.ts';

/** A session and what a client knows of it, who is told of it anew whenever it becomes another one. */
class Reading {
  readonly #log = SessionLog.inMemory({ cwd: '/srv/shop' });
  readonly #ids: string[] = [];
  known: Known = nothingKnown;

  /** The same words at the same time are said again and again. */
  say(content: string): void {
    const message: AgentMessage = { role: 'user', content, timestamp: 1 };
    this.#ids.push(this.#log.append({ type: 'message', message }).id);
    this.known = { ...this.known, messages: [...this.known.messages, message] };
  }

  compact(place: number): void {
    const firstKeptEntryId = this.#at(place);
    if (firstKeptEntryId === undefined) return;
    this.#log.append({ type: 'compaction', summary: `summary ${this.#log.size}`, firstKeptEntryId, tokensBefore: 1 });
  }

  edit(place: number, content: string | null): void {
    const targetId = this.#at(place);
    if (targetId === undefined) return;
    const replacement = content === null ? null : { role: 'user', content, timestamp: 1 };
    this.#log.append({ type: 'context_edit', targetId, replacement });
  }

  goTo(place: number): void {
    this.#log.moveLeaf(this.#at(place) ?? null);
  }

  sync(tail: number): void {
    const { messages, nextCursor } = new MessagePages(this.#log).page({ from: 'end', limit: tail });
    this.known = merged(this.known, { messages: structuredClone(messages), cursor: nextCursor });
  }

  /** Reads a page more; answers whether there was one. */
  read(limit: number): boolean {
    const { earlier } = this.known;
    if (!earlier) return false;
    const page = new MessagePages(this.#log).page({ ...earlier, limit });
    this.known = withEarlier(this.known, earlier, structuredClone(page));
    return true;
  }

  /** Everything that was said up to where the session is. */
  get whole(): readonly AgentMessage[] {
    const pages = new MessagePages(this.#log);
    const limit = 1000;
    return [...pages.page({ limit, replaced: true }).messages, ...pages.page({ limit }).messages];
  }

  /** How many messages there are, also in other branches. */
  get length(): number {
    return this.#ids.length;
  }

  #at(place: number): string | undefined {
    const branch = new Set(this.#log.branch().map(({ id }) => id));
    const ids = this.#ids.filter((id) => branch.has(id));
    return ids[place % ids.length];
  }
}

type Step = (reading: Reading) => void;

const place = fc.nat(30);
const word = fc.constantFrom('a', 'b', 'c');
const size = fc.integer({ min: 1, max: 6 });

const reads = size.map(
  (limit): Step =>
    (reading) =>
      void reading.read(limit),
);
const syncs = size.map(
  (tail): Step =>
    (reading) =>
      reading.sync(tail),
);

/** Something happens to the conversation, of which the client is told a part then. */
const thenSync = (steps: fc.Arbitrary<Step>) =>
  fc.tuple(steps, syncs).map(
    ([step, sync]): Step =>
      (reading) => {
        step(reading);
        sync(reading);
      },
  );

const compacts = thenSync(place.map((at) => (reading) => reading.compact(at)));
const moves = thenSync(place.map((at) => (reading) => reading.goTo(at)));
const edits = thenSync(
  fc.tuple(place, fc.option(word)).map(
    ([at, content]) =>
      (reading) =>
        reading.edit(at, content),
  ),
);
const says = word.map(
  (content): Step =>
    (reading) =>
      reading.say(content),
);

const anySteps = fc.array(
  fc.oneof({ arbitrary: says, weight: 4 }, { arbitrary: reads, weight: 2 }, syncs, compacts, moves, edits),
  { maxLength: 40 },
);

it('[V40] what is certain of a conversation is its end, whatever becomes of it', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const reading = new Reading();
      for (const step of steps) {
        step(reading);
        const { messages, unconfirmed, earlier } = reading.known;
        const all = [...unconfirmed, ...messages];

        expect(messages).toEqual(endOf(reading.whole, messages.length));
        if (!earlier) expect(messages).toEqual(reading.whole);
        expect(new Set(all).size).toBe(all.length);
      }
    }),
    { numRuns: 300 },
  );
});

it('[V40] a conversation is known whole when every page was read, whatever became of it', () => {
  fc.assert(
    fc.property(anySteps, size, (steps, limit) => {
      const reading = new Reading();
      for (const step of steps) step(reading);
      while (reading.read(limit));

      expect(reading.known).toEqual({ ...nothingKnown, messages: reading.whole });
    }),
    { numRuns: 300 },
  );
});

it('[V40] what is not certain misses summaries only, where no two messages are the same and none was edited', () => {
  const saysNews = fc.constant<Step>((reading) => reading.say(`message ${reading.length}`));
  const steps = fc.oneof({ arbitrary: saysNews, weight: 4 }, { arbitrary: reads, weight: 2 }, syncs, compacts, moves);
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 40 }), (all) => {
      const reading = new Reading();
      for (const step of all) {
        step(reading);
        const known = withoutSummaries(reading.known.messages);

        expect(known).toEqual(endOf(withoutSummaries(reading.whole), known.length));
      }
    }),
    { numRuns: 300 },
  );
});

const endOf = <T>(items: readonly T[], length: number) => items.slice(items.length - length);

const withoutSummaries = (messages: readonly AgentMessage[]) =>
  messages.filter(({ role }) => role !== 'compactionSummary');

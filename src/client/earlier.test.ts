import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../protocol/generated/vocabulary.ts';
import { type Earlier, type Known, merged, withEarlier } from './earlier.ts';

const said = (content: string): AgentMessage => ({ role: 'user', content, timestamp: 1 });

const summary: AgentMessage = { role: 'compactionSummary', summary: 's', tokensBefore: 1, timestamp: 1 };

const unknown: Known = { messages: [], earlier: undefined };

const cursor = (name: string): Earlier => ({ from: 'end', cursor: name });

/** A conversation, told from the end in pages: the snapshot first. */
const anyPages = fc.array(fc.array(fc.string({ maxLength: 2 }).map(said), { maxLength: 4 }), { minLength: 1 });

describe('what was said before', () => {
  it('[V40] is known whole when every page was read', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const [tail = [], ...others] = pages.toReversed();
        const next = (at: number) => (at < others.length ? { nextCursor: String(at) } : {});
        let known = merged(unknown, { messages: tail, cursor: next(0).nextCursor });
        for (const [index, messages] of others.entries()) {
          const page = { messages, totalMessages: 0, ...next(index + 1) };
          known = withEarlier(known, known.earlier ?? {}, page);
        }

        expect(known).toEqual({ messages: pages.flat(), earlier: undefined });
      }),
    );
  });

  it('[V40] is asked for beyond a summary, once', () => {
    const known = merged(unknown, { messages: [summary, said('kept')] });
    const asked = known.earlier ?? {};
    const half = withEarlier(known, asked, { messages: [summary, said('b')], nextCursor: 'c', totalMessages: 3 });
    const whole = withEarlier(half, half.earlier ?? {}, { messages: [summary], totalMessages: 3 });

    expect(asked).toEqual({ from: 'end', replaced: true });
    expect(half.earlier).toEqual({ from: 'end', replaced: true, cursor: 'c' });
    expect(whole).toEqual({ messages: [summary, summary, said('b'), summary, said('kept')], earlier: undefined });
  });

  it('[V40] is asked for beyond a summary after the pages of the conversation', () => {
    const known = merged(unknown, { messages: [said('kept')], cursor: 'c' });

    const after = withEarlier(known, known.earlier ?? {}, { messages: [summary], totalMessages: 2 });

    expect(after.earlier).toEqual({ from: 'end', replaced: true });
  });

  it('[V40] changes nothing when it was asked for in another conversation', () => {
    const known: Known = { messages: [said('a')], earlier: cursor('c') };

    expect(withEarlier(known, cursor('c'), { messages: [said('b')], totalMessages: 2 })).toBe(known);
  });
});

describe('a snapshot', () => {
  it('[V40] leaves what was known the same, and what was read before it', () => {
    const anyWhole = fc.uniqueArray(fc.nat(), { minLength: 1 }).map((all) => all.map((number) => said(String(number))));
    fc.assert(
      fc.property(anyWhole, fc.nat(), fc.nat(), (whole, place, earlierPlace) => {
        const known = whole.slice(0, 1 + (place % whole.length));
        const from = earlierPlace % known.length;

        const after = merged(
          { messages: known, earlier: cursor('of the first page') },
          { messages: structuredClone(whole.slice(from)), cursor: 'of the snapshot' },
        );

        expect(after.messages).toEqual(whole);
        expect(known.every((message, index) => after.messages[index] === message)).toBe(true);
        expect(after.earlier).toEqual(cursor(from === 0 ? 'of the snapshot' : 'of the first page'));
      }),
    );
  });

  it('[V40] of what was compacted begins with the summary, and keeps the messages that it has kept', () => {
    const [first, kept] = [said('a'), said('b')];

    const after = merged(
      { messages: [first, kept], earlier: undefined },
      { messages: structuredClone([summary, kept, said('c')]) },
    );

    expect(after).toEqual({ messages: [summary, kept, said('c')], earlier: { from: 'end', replaced: true } });
    expect(after.messages[1]).toBe(kept);
  });

  it('[V40] keeps what was read beyond a summary', () => {
    const known: Known = { messages: [said('a'), summary, said('b')], earlier: undefined };

    const after = merged(known, { messages: structuredClone([summary, said('b'), said('c')]) });

    expect(after).toEqual({ messages: [...known.messages, said('c')], earlier: undefined });
  });

  it('[V40] that has nothing in common with what was known takes its place', () => {
    const known: Known = { messages: [said('a')], earlier: cursor('c') };

    expect(merged(known, { messages: [said('z')] })).toEqual({ messages: [said('z')], earlier: undefined });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../protocol/generated/vocabulary.ts';
import { type Earlier, type Known, merged, nothingKnown, withEarlier } from './earlier.ts';

const said = (content: string): AgentMessage => ({ role: 'user', content, timestamp: 1 });

const summary: AgentMessage = { role: 'compactionSummary', summary: 's', tokensBefore: 1, timestamp: 1 };

const cursor = (name: string): Earlier => ({ from: 'end', cursor: name });

/** A conversation, told from the end in pages: the snapshot first. */
const anyPages = fc.array(fc.array(fc.string({ maxLength: 2 }).map(said), { maxLength: 4 }), { minLength: 1 });

describe('what was said before', () => {
  it('[V40] is known whole when every page was read', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const [tail = [], ...others] = pages.toReversed();
        const next = (at: number) => (at < others.length ? { nextCursor: String(at) } : {});
        let known = merged(nothingKnown, { messages: tail, cursor: next(0).nextCursor });
        for (const [index, messages] of others.entries()) {
          const page = { messages, totalMessages: 0, ...next(index + 1) };
          known = withEarlier(known, known.earlier ?? {}, page);
        }

        expect(known).toEqual({ ...nothingKnown, messages: pages.flat() });
      }),
    );
  });

  it('[V40] is asked for beyond a summary, once', () => {
    const known = merged(nothingKnown, { messages: [summary, said('kept')] });
    const asked = known.earlier ?? {};
    const half = withEarlier(known, asked, { messages: [summary, said('b')], nextCursor: 'c', totalMessages: 3 });
    const whole = withEarlier(half, half.earlier ?? {}, { messages: [summary], totalMessages: 3 });

    expect(asked).toEqual({ from: 'end', replaced: true });
    expect(half.earlier).toEqual({ from: 'end', replaced: true, cursor: 'c' });
    expect(whole).toEqual({ ...nothingKnown, messages: [summary, summary, said('b'), summary, said('kept')] });
  });

  it('[V40] is asked for beyond a summary after the pages of the conversation', () => {
    const known = merged(nothingKnown, { messages: [said('kept')], cursor: 'c' });

    const after = withEarlier(known, known.earlier ?? {}, { messages: [summary], totalMessages: 2 });

    expect(after.earlier).toEqual({ from: 'end', replaced: true });
  });

  it('[V40] changes nothing when it was asked for in another conversation', () => {
    const known: Known = { ...nothingKnown, messages: [said('a')], earlier: cursor('c') };

    expect(withEarlier(known, cursor('c'), { messages: [said('b')], totalMessages: 2 })).toBe(known);
  });
});

describe('a snapshot', () => {
  it('[V40] leaves what was known the same, and what was read before it until that is told anew', () => {
    const anyWhole = fc.uniqueArray(fc.nat(), { minLength: 1 }).map((all) => all.map((number) => said(String(number))));
    fc.assert(
      fc.property(anyWhole, fc.nat(), fc.nat(), (whole, place, earlierPlace) => {
        const known = whole.slice(0, 1 + (place % whole.length));
        const from = earlierPlace % known.length;

        const after = merged(
          { ...nothingKnown, messages: known, earlier: cursor('of the first page') },
          { messages: structuredClone(whole.slice(from)), cursor: 'of the snapshot' },
        );
        const page = { messages: structuredClone(whole.slice(0, from)), totalMessages: whole.length };
        const read = withEarlier(after, after.earlier ?? {}, page);

        expect(after).toEqual({
          messages: whole.slice(from),
          unconfirmed: whole.slice(0, from),
          earlier: cursor('of the snapshot'),
        });
        expect(read).toEqual({ ...nothingKnown, messages: whole });
        for (const { messages, unconfirmed } of [after, read]) {
          const all = [...unconfirmed, ...messages];
          expect(known.every((message, index) => all[index] === message)).toBe(true);
        }
      }),
    );
  });

  it('[V40] of what was compacted puts the summary between what it replaces and what it has kept', () => {
    const [first, kept] = [said('a'), said('b')];

    const after = merged(
      { ...nothingKnown, messages: [first, kept] },
      { messages: structuredClone([summary, kept, said('c')]) },
    );

    const earlier = { from: 'end', replaced: true };
    expect(after).toEqual({ messages: [summary, kept, said('c')], unconfirmed: [first], earlier });
    expect(after.messages[1]).toBe(kept);
  });

  it('[V40] that begins behind the summary lets pages put it where it belongs', () => {
    const [a, b, c, d] = [said('a'), said('b'), said('c'), said('d')];
    const known: Known = { ...nothingKnown, messages: [b, c, d], earlier: cursor('/b') };

    const after = merged(known, { messages: [d], cursor: 's/d' });
    const kept = withEarlier(after, after.earlier ?? {}, { messages: [summary, c], totalMessages: 3 });
    const whole = withEarlier(kept, kept.earlier ?? {}, { messages: [a, b], totalMessages: 2 });

    expect(after).toEqual({ messages: [d], unconfirmed: [b, c], earlier: cursor('s/d') });
    expect(kept).toEqual({ messages: [summary, c, d], unconfirmed: [b], earlier: { from: 'end', replaced: true } });
    expect(whole).toEqual({ ...nothingKnown, messages: [a, b, summary, c, d] });
  });

  it('[V40] keeps what was read beyond a summary', () => {
    const known: Known = { ...nothingKnown, messages: [said('a'), summary, said('b')] };

    const after = merged(known, { messages: structuredClone([summary, said('b'), said('c')]) });

    expect([...after.unconfirmed, ...after.messages]).toEqual([...known.messages, said('c')]);
  });

  it('[V40] that has nothing in common with what was known takes its place', () => {
    const known: Known = { ...nothingKnown, messages: [said('a')], earlier: cursor('c') };

    expect(merged(known, { messages: [said('z')] })).toEqual({ ...nothingKnown, messages: [said('z')] });
    expect(merged(known, { messages: [summary, said('z')] }).messages).toEqual([summary, said('z')]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { emptyHistory, type MessageHistory, mergeSnapshot, type PageRequest, prependPage } from './history.ts';

const user = (content: string): AgentMessage => ({ role: 'user', content, timestamp: 1 });

const summary: AgentMessage = { role: 'compactionSummary', summary: 's', tokensBefore: 1, timestamp: 1 };

const cursor = (name: string): PageRequest => ({ from: 'end', cursor: name });

// A conversation in pages; the last one is the snapshot.
const anyPages = fc.array(fc.array(fc.string({ maxLength: 2 }).map(user), { maxLength: 4 }), { minLength: 1 });

describe('earlier messages', () => {
  it('[V40] are complete when every page was read', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const [tail = [], ...others] = pages.toReversed();
        const next = (at: number) => (at < others.length ? { nextCursor: String(at) } : {});
        let known = mergeSnapshot(emptyHistory, { messages: tail, cursor: next(0).nextCursor });
        for (const [index, messages] of others.entries()) {
          const page = { messages, totalMessages: 0, ...next(index + 1) };
          known = prependPage(known, known.earlier ?? {}, page);
        }

        expect(known).toEqual({ ...emptyHistory, messages: pages.flat() });
      }),
    );
  });

  it('[V40] are requested beyond a summary, once', () => {
    const known = mergeSnapshot(emptyHistory, { messages: [summary, user('kept')] });
    const request = known.earlier ?? {};
    const half = prependPage(known, request, { messages: [summary, user('b')], nextCursor: 'c', totalMessages: 3 });
    const whole = prependPage(half, half.earlier ?? {}, { messages: [summary], totalMessages: 3 });

    expect(request).toEqual({ from: 'end', replaced: true });
    expect(half.earlier).toEqual({ from: 'end', replaced: true, cursor: 'c' });
    expect(whole).toEqual({ ...emptyHistory, messages: [summary, summary, user('b'), summary, user('kept')] });
  });

  it('[V40] are requested beyond a summary after the pages of the conversation', () => {
    const known = mergeSnapshot(emptyHistory, { messages: [user('kept')], cursor: 'c' });

    const after = prependPage(known, known.earlier ?? {}, { messages: [summary], totalMessages: 2 });

    expect(after.earlier).toEqual({ from: 'end', replaced: true });
  });

  it('[V40] of an outdated request change nothing', () => {
    const known: MessageHistory = { ...emptyHistory, messages: [user('a')], earlier: cursor('c') };

    expect(prependPage(known, cursor('c'), { messages: [user('b')], totalMessages: 2 })).toBe(known);
  });
});

describe('a snapshot', () => {
  it('[V40] keeps the identity of known messages, and keeps older ones unconfirmed until their page is read', () => {
    const anyWhole = fc.uniqueArray(fc.nat(), { minLength: 1 }).map((all) => all.map((number) => user(String(number))));
    fc.assert(
      fc.property(anyWhole, fc.nat(), fc.nat(), (whole, index, earlierIndex) => {
        const known = whole.slice(0, 1 + (index % whole.length));
        const from = earlierIndex % known.length;

        const after = mergeSnapshot(
          { ...emptyHistory, messages: known, earlier: cursor('of the first page') },
          { messages: structuredClone(whole.slice(from)), cursor: 'of the snapshot' },
        );
        const page = { messages: structuredClone(whole.slice(0, from)), totalMessages: whole.length };
        const read = prependPage(after, after.earlier ?? {}, page);

        expect(after).toEqual({
          messages: whole.slice(from),
          unconfirmed: whole.slice(0, from),
          earlier: cursor('of the snapshot'),
        });
        expect(read).toEqual({ ...emptyHistory, messages: whole });
        for (const { messages, unconfirmed } of [after, read]) {
          const all = [...unconfirmed, ...messages];
          expect(known.every((message, index) => all[index] === message)).toBe(true);
        }
      }),
    );
  });

  it('[V40] after a compaction puts the summary between the replaced and the kept messages', () => {
    const [first, kept] = [user('a'), user('b')];

    const after = mergeSnapshot(
      { ...emptyHistory, messages: [first, kept] },
      { messages: structuredClone([summary, kept, user('c')]) },
    );

    const earlier = { from: 'end', replaced: true };
    expect(after).toEqual({ messages: [summary, kept, user('c')], unconfirmed: [first], earlier });
    expect(after.messages[1]).toBe(kept);
  });

  it('[V40] that starts after a summary lets the pages insert the summary', () => {
    const [a, b, c, d] = [user('a'), user('b'), user('c'), user('d')];
    const known: MessageHistory = { ...emptyHistory, messages: [b, c, d], earlier: cursor('/b') };

    const after = mergeSnapshot(known, { messages: [d], cursor: 's/d' });
    const kept = prependPage(after, after.earlier ?? {}, { messages: [summary, c], totalMessages: 3 });
    const whole = prependPage(kept, kept.earlier ?? {}, { messages: [a, b], totalMessages: 2 });

    expect(after).toEqual({ messages: [d], unconfirmed: [b, c], earlier: cursor('s/d') });
    expect(kept).toEqual({ messages: [summary, c, d], unconfirmed: [b], earlier: { from: 'end', replaced: true } });
    expect(whole).toEqual({ ...emptyHistory, messages: [a, b, summary, c, d] });
  });

  it('[V40] keeps messages that were loaded beyond a summary', () => {
    const known: MessageHistory = { ...emptyHistory, messages: [user('a'), summary, user('b')] };

    const after = mergeSnapshot(known, { messages: structuredClone([summary, user('b'), user('c')]) });

    expect([...after.unconfirmed, ...after.messages]).toEqual([...known.messages, user('c')]);
  });

  it('[V40] without a known message replaces the history', () => {
    const known: MessageHistory = { ...emptyHistory, messages: [user('a')], earlier: cursor('c') };

    expect(mergeSnapshot(known, { messages: [user('z')] })).toEqual({ ...emptyHistory, messages: [user('z')] });
    expect(mergeSnapshot(known, { messages: [summary, user('z')] }).messages).toEqual([summary, user('z')]);
  });
});

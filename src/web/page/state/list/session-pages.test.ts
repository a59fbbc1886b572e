import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { mergePage, type PageEnd, sessionsAfter } from './session-pages.ts';

const session = (id: number, at: number, more: Partial<SessionSummary> = {}): SessionSummary => ({
  id: `s${id}`,
  path: `/s${id}.jsonl`,
  cwd: '/',
  firstMessage: '',
  messageCount: 1,
  lastModified: new Date(at).toISOString(),
  ...more,
});

/** A server that lists its sessions page by page, and the sessions loaded from it. */
class Listing {
  loaded: readonly SessionSummary[] = [];
  stored: readonly SessionSummary[];

  constructor(stored: readonly SessionSummary[]) {
    this.stored = stored;
  }

  read(count: number, after?: PageEnd): PageEnd | undefined {
    const isOlder = ({ lastModified, path }: SessionSummary) => !after || `${lastModified}${path}` < after.cursor;
    const older = [...this.stored].sort((one, other) => (order(one) < order(other) ? 1 : -1)).filter(isOlder);
    const sessions = older.slice(0, count);
    const last = sessions.at(-1);
    const end = last && older.length > count ? { cursor: order(last), last } : undefined;
    // Each response is parsed anew.
    this.loaded = mergePage(this.loaded, { after, sessions: structuredClone(sessions), end });
    return end;
  }

  /** Reads this many pages, newest first. */
  readPages(pages: number, count: number): void {
    for (let page = 0, end: PageEnd | undefined; page < pages && (page === 0 || end); page++)
      end = this.read(count, end);
  }

  change(id: string, by: (session: SessionSummary) => readonly SessionSummary[]): void {
    this.stored = this.stored.flatMap((one) => (one.id === id ? by(one) : one));
  }

  ids(): string[] {
    return this.loaded.map(({ id }) => id);
  }
}

const order = ({ lastModified, path }: SessionSummary) => `${lastModified}${path}`;

const many = (count: number) => Array.from({ length: count }, (_, id) => session(id, 1e12 - id * 1000));

it('an old session that runs again moves to the top with its new state and is listed once', () => {
  const listing = new Listing(many(12));
  listing.readPages(2, 5);

  listing.change('s8', () => [session(8, 2e12, { status: 'running', messageCount: 9 })]);
  listing.read(5);

  expect(listing.loaded[0]).toMatchObject({ id: 's8', status: 'running', messageCount: 9 });
  expect(listing.ids()).toEqual(['s8', 's0', 's1', 's2', 's3', 's4', 's5', 's6', 's7', 's9']);
});

it('a deleted session is removed when its page is read again, and sessions after that page stay', () => {
  const listing = new Listing(many(12));
  listing.readPages(3, 4);

  listing.change('s1', () => []);
  listing.change('s6', () => []);
  const end = listing.read(4);
  const first = listing.ids();
  listing.read(4, end);

  expect(first).toEqual(['s0', 's2', 's3', 's4', 's5', 's6', 's7', 's8', 's9', 's10', 's11']);
  expect(listing.ids()).toEqual(['s0', 's2', 's3', 's4', 's5', 's7', 's8', 's9', 's10', 's11']);
  expect(sessionsAfter(listing.loaded, end).map(({ id }) => id)).toEqual(['s5', 's7', 's8', 's9', 's10', 's11']);
});

it('unchanged sessions and an unchanged list keep their identity', () => {
  const listing = new Listing(many(9));
  listing.readPages(3, 4);
  const before = listing.loaded;

  listing.readPages(3, 4);
  const again = listing.loaded;
  listing.change('s2', (one) => [{ ...one, name: 'Another' }]);
  listing.readPages(3, 4);

  expect(again).toBe(before);
  expect(listing.loaded.filter((one, at) => one !== before[at])).toEqual([{ ...before[2], name: 'Another' }]);
});

it('after any changes, reading all pages again yields the stored sessions, newest first, each once', () => {
  const change = fc.record({ id: fc.nat(19), at: fc.nat(30), what: fc.constantFrom('write', 'delete', 'read') });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), fc.integer({ min: 1, max: 7 }), (changes, count) => {
      const listing = new Listing(Array.from({ length: 20 }, (_, id) => session(id, 1000 + (id % 5))));
      listing.readPages(2, count);
      for (const { id, at, what } of changes) {
        if (what === 'read') listing.readPages(1 + (at % 3), count);
        else listing.change(`s${id}`, () => (what === 'write' ? [session(id, 1000 + at)] : []));
        expect(new Set(listing.ids()).size).toBe(listing.loaded.length);
      }
      listing.readPages(Infinity, count);
      expect(listing.ids()).toEqual(
        [...listing.stored].sort((a, b) => (order(a) < order(b) ? 1 : -1)).map(({ id }) => id),
      );
    }),
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IndexedSession } from './cluster-index.ts';
import { type Position, SessionOrder } from './session-order.ts';

const position = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  lastModified: fc.constantFrom('1', '2', '3'),
});
const change = fc.record({ session: position, isRemoved: fc.boolean(), isRead: fc.boolean() });
const key = ({ lastModified, id }: Position) => `${lastModified} ${id}`;

it('sessions are listed by time, then by id, after any changes, and a walk may continue behind any position', () => {
  fc.assert(
    fc.property(fc.array(change), position, (changes, cursor) => {
      const order = new SessionOrder();
      const present = new Map<string, IndexedSession>();
      for (const { session, isRemoved, isRead } of changes) {
        const next = isRemoved ? undefined : (session as IndexedSession);
        order.replace(present.get(session.id), next);
        if (next) present.set(next.id, next);
        else present.delete(session.id);
        if (isRead) expect(order.sessions).toHaveLength(present.size);
      }

      const newestFirst = [...present.values()].sort(
        (one, other) => Number(other.lastModified) - Number(one.lastModified) || (one.id < other.id ? -1 : 1),
      );
      expect(order.sessions.map(key)).toEqual(newestFirst.map(key));
      const isBehind = ({ lastModified, id }: Position) =>
        lastModified < cursor.lastModified || (lastModified === cursor.lastModified && id > cursor.id);
      expect(order.sessions.slice(order.positionAfter(cursor)).map(key)).toEqual(newestFirst.filter(isBehind).map(key));
    }),
  );
});

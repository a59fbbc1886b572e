import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Journal, NotOwner } from '../journal.ts';

/** A journal under test, and what may happen to it. */
export interface JournalUnderTest {
  readonly journal: Journal;
  /** The session becomes somebody else's. */
  readonly lose: () => void;
}

/** What every journal promises. `make`: one that keeps at least a hundred short records. */
export function journalContract(name: string, make: () => JournalUnderTest): void {
  describe(name, () => {
    it('begins with nothing', async () => {
      const { journal } = make();
      expect([journal.first, journal.last]).toEqual([1, 0]);
      expect(await journal.read(0)).toEqual([]);
    });

    it('has an epoch of its own', () => {
      expect(make().journal.epoch).not.toBe(make().journal.epoch);
    });

    it('numbers what it keeps without a gap, and answers the first number of a batch', async () => {
      const { journal } = make();
      expect(await journal.append(['a', 'b'])).toBe(1);
      expect(await journal.append(['c'])).toBe(3);
      expect(await journal.read(1)).toEqual([
        { seq: 2, text: 'b' },
        { seq: 3, text: 'c' },
      ]);
    });

    it('has nothing after the last, and knows nothing beyond it', async () => {
      const { journal } = make();
      await journal.append(['a']);
      expect(await journal.read(1)).toEqual([]);
      expect(await journal.read(2)).toBeUndefined();
    });

    it('keeps nothing for one who is not the owner any more', async () => {
      const { journal, lose } = make();
      await journal.append(['a']);
      lose();
      await expect(journal.append(['b'])).rejects.toBeInstanceOf(NotOwner);
      expect(journal.last).toBe(1);
    });

    it('tells everything after a number, or that it cannot, whatever was appended', async () => {
      const batches = fc.array(fc.array(fc.string({ maxLength: 2000 }), { maxLength: 20 }), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(batches, async (all) => {
          const { journal } = make();
          for (const batch of all) await journal.append(batch);
          const texts = all.flat();
          expect(journal.last).toBe(texts.length);
          for (let after = 0; after <= texts.length; after++) {
            const kept = await journal.read(after);
            if (after < journal.first - 1) expect(kept).toBeUndefined();
            else
              expect(kept?.map(({ seq, text }) => [seq, text])).toEqual(
                texts.slice(after).map((text, index) => [after + 1 + index, text]),
              );
          }
        }),
        { numRuns: 30 },
      );
    });
  });
}

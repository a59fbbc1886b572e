import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Journal, NotOwner } from '../storage/journal.ts';

/** A journal and a way to revoke its ownership. */
export interface JournalUnderTest {
  readonly journal: Journal;
  readonly lose: () => void;
}

/** The guarantees of every journal. `make` returns one that holds at least a hundred short records. */
export function journalContract(name: string, make: () => JournalUnderTest | Promise<JournalUnderTest>): void {
  describe(name, () => {
    it('a new journal is empty', async () => {
      const { journal } = await make();
      expect([journal.first, journal.last]).toEqual([1, 0]);
      expect(await journal.read(0)).toEqual([]);
    });

    it('each journal has an epoch of its own', async () => {
      const [one, other] = [await make(), await make()];
      expect(one.journal.epoch).not.toBe(other.journal.epoch);
    });

    it('append numbers records without gaps and returns the first number of a batch', async () => {
      const { journal } = await make();
      expect(await journal.append(['a', 'b'])).toBe(1);
      expect(await journal.append(['c'])).toBe(3);
      expect(await journal.read(1)).toEqual([
        { seq: 2, text: 'b' },
        { seq: 3, text: 'c' },
      ]);
    });

    it('read returns nothing after the last record and undefined beyond it', async () => {
      const { journal } = await make();
      await journal.append(['a']);
      expect(await journal.read(1)).toEqual([]);
      expect(await journal.read(2)).toBeUndefined();
    });

    it('append rejects after the ownership is lost', async () => {
      const { journal, lose } = await make();
      await journal.append(['a']);
      lose();
      await expect(journal.append(['b'])).rejects.toBeInstanceOf(NotOwner);
      expect(journal.last).toBe(1);
    });

    it('read returns all records after a number, or undefined if some were dropped', async () => {
      const batches = fc.array(fc.array(fc.string({ maxLength: 2000 }), { maxLength: 20 }), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(batches, async (all) => {
          const { journal } = await make();
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

import { describe, expect, it } from 'vitest';
import type { Ownership } from '../ownership.ts';

/** What everything promises that says who runs which session. */
export function ownershipContract(name: string, make: () => Ownership): void {
  describe(name, () => {
    it('gives a session to one at a time', async () => {
      const ownership = make();
      const first = await ownership.claim('a');
      expect(first).toBeDefined();
      expect(await ownership.claim('a')).toBeUndefined();
      expect(await ownership.claim('b')).toBeDefined();
      await first?.release();
      expect(await ownership.claim('a')).toBeDefined();
    });

    it('gives it to one of those who ask at the same time', async () => {
      const ownership = make();
      const claims = await Promise.all(Array.from({ length: 20 }, () => ownership.claim('a')));
      expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    });

    it('counts upwards, so that an older claim can be told', async () => {
      const ownership = make();
      const first = await ownership.claim('a');
      await first?.release();
      const second = await ownership.claim('a');
      expect(second?.token).toBeGreaterThan(first?.token ?? Number.POSITIVE_INFINITY);
    });

    it('takes nothing from the next owner when one that is over is given back again', async () => {
      const ownership = make();
      const first = await ownership.claim('a');
      await first?.release();
      const second = await ownership.claim('a');
      await first?.release();
      expect(await ownership.claim('a')).toBeUndefined();
      expect(second?.lost.aborted).toBe(false);
    });
  });
}

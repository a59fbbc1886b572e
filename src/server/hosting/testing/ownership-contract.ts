import { describe, expect, it } from 'vitest';
import type { Ownership } from '../storage/ownership.ts';

/** The guarantees of every implementation of ownership. */
export function ownershipContract(name: string, make: () => Ownership | Promise<Ownership>): void {
  describe(name, () => {
    it('a session has one owner at a time', async () => {
      const ownership = await make();
      const first = await ownership.claim('a');
      expect(first).toBeDefined();
      expect(await ownership.claim('a')).toBeUndefined();
      expect(await ownership.claim('b')).toBeDefined();
      await first?.release();
      expect(await ownership.claim('a')).toBeDefined();
    });

    it('one of several simultaneous claims succeeds', async () => {
      const ownership = await make();
      const claims = await Promise.all(Array.from({ length: 20 }, () => ownership.claim('a')));
      expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    });

    it('tokens of later claims are greater', async () => {
      const ownership = await make();
      const first = await ownership.claim('a');
      await first?.release();
      const second = await ownership.claim('a');
      expect(second?.token).toBeGreaterThan(first?.token ?? Number.POSITIVE_INFINITY);
    });

    it('a second release does not affect the next owner', async () => {
      const ownership = await make();
      const first = await ownership.claim('a');
      await first?.release();
      const second = await ownership.claim('a');
      await first?.release();
      expect(await ownership.claim('a')).toBeUndefined();
      expect(second?.lost.aborted).toBe(false);
    });
  });
}

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressOf } from './page-location.ts';

it('every session and every folder has an address that names it, also with half a surrogate pair at its end', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', '\ud83d', '\ude80'), (text, half) => {
      const named = (address: string) => [...new URLSearchParams(address).values()];
      const whole = text + (half && '\ufffd');

      expect(named(addressOf({ kind: 'session', id: text + half }))).toEqual([whole]);
      expect(named(addressOf({ kind: 'new', id: 'x', cwd: text + half }))).toEqual([whole]);
    }),
  );
});

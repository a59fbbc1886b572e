import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anthropicToolId } from './tool-call-ids.ts';

it.each(['toolu_01A', 'call-1', 'x'.repeat(64)])('an accepted id stays: %s', (id) => {
  expect(anthropicToolId(id)).toBe(id);
});

it('any id becomes acceptable, and different ids stay different', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), fc.string({ maxLength: 120 }), (one, two) => {
      expect(anthropicToolId(one)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(anthropicToolId(one) === anthropicToolId(two)).toBe(one === two);
    }),
  );
});

it('long ids with a common prefix stay different', () => {
  const long = 'x'.repeat(100);

  expect(anthropicToolId(`${long}1`)).not.toBe(anthropicToolId(`${long}2`));
});

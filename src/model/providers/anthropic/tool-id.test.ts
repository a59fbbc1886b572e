import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toolId } from './tool-id.ts';

it.each(['toolu_01A', 'call-1', 'x'.repeat(64)])('keeps %s', (id) => {
  expect(toolId(id)).toBe(id);
});

it('makes any id fit, and different ones of different ids', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), fc.string({ maxLength: 120 }), (one, two) => {
      expect(toolId(one)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(toolId(one) === toolId(two)).toBe(one === two);
    }),
  );
});

it('tells long ids apart that begin alike', () => {
  const long = 'x'.repeat(100);

  expect(toolId(`${long}1`)).not.toBe(toolId(`${long}2`));
});

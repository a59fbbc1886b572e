import { expect, it } from 'vitest';
import { SharedTurns } from './shared-turns.ts';

/** Work whose turns end when they are told to. */
function turns() {
  const ends: (() => void)[] = [];
  let begun = 0;
  const shared = new SharedTurns(() => {
    const turn = ++begun;
    return new Promise<number>((resolve) => ends.push(() => resolve(turn)));
  });
  return { shared, begun: () => begun, end: () => ends.shift()?.() };
}

it('whoever asks meanwhile shares the next turn', async () => {
  const { shared, begun, end } = turns();
  const first = shared.take();
  const later = [shared.take(), shared.take(), shared.take()];
  expect(begun()).toBe(1);

  end();
  expect(await first).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  end();

  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  expect(begun()).toBe(2);
});

it('a turn that fails does not fail the next one', async () => {
  let begun = 0;
  const shared = new SharedTurns(async () => {
    begun += 1;
    if (begun === 1) throw new Error('no');
    return begun;
  });

  const [first, second] = await Promise.allSettled([shared.take(), shared.take()]);

  expect([first.status, second]).toEqual(['rejected', { status: 'fulfilled', value: 2 }]);
});

import { expect, it } from 'vitest';
import { FairTurns } from './fair-turns.ts';

it('runs one piece of work at a time, and the holders take turns', async () => {
  const turns = new FairTurns();
  const order: string[] = [];
  let running = 0;
  const work = (name: string) => async () => {
    expect(++running).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    order.push(name);
    return name;
  };

  const results = await Promise.all([
    ...['a1', 'a2', 'a3', 'a4'].map((name) => turns.run('a', work(name))),
    turns.run('b', work('b1')),
  ]);

  expect(results).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
  expect(order.indexOf('b1')).toBeLessThan(3);
});

it('continues after work that fails', async () => {
  const turns = new FairTurns();

  const failed = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', async () => 'yes');

  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('yes');
});

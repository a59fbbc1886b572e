import { expect, it } from 'vitest';
import { CoalescedTask } from './coalesced-task.ts';

/** A task whose executions end on demand. */
function controlledTask() {
  const ends: (() => void)[] = [];
  let started = 0;
  const task = new CoalescedTask(() => {
    const count = ++started;
    return new Promise<number>((resolve) => ends.push(() => resolve(count)));
  });
  return { task, started: () => started, end: () => ends.shift()?.() };
}

it('calls during an execution share the next execution', async () => {
  const { task, started, end } = controlledTask();
  const first = task.run();
  const later = [task.run(), task.run(), task.run()];
  expect(started()).toBe(1);

  end();
  expect(await first).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  end();

  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  expect(started()).toBe(2);
});

it('a failing execution does not fail the next one', async () => {
  let started = 0;
  const task = new CoalescedTask(async () => {
    started += 1;
    if (started === 1) throw new Error('no');
    return started;
  });

  const [first, second] = await Promise.allSettled([task.run(), task.run()]);

  expect([first.status, second]).toEqual(['rejected', { status: 'fulfilled', value: 2 }]);
});

it('settled waits for the execution in progress and starts none', async () => {
  const log: string[] = [];
  const task = new CoalescedTask(async () => {
    log.push('started');
    await Promise.resolve();
    log.push('ended');
    throw new Error('no');
  });
  await task.settled();
  const failed = task.run().catch(() => 'failed');

  await task.settled();

  expect(log).toEqual(['started', 'ended']);
  expect(await failed).toBe('failed');
});

import { expect, it } from 'vitest';
import { MoveBarrier } from './session-moves.ts';

function gate(): { passed: Promise<void>; open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

it('work that arrives during exclusive work runs after it, in order', async () => {
  const barrier = new MoveBarrier();
  const done: string[] = [];
  const { passed, open } = gate();

  barrier.run(() => done.push('before'));
  const alone = barrier.runExclusively(async () => {
    await passed;
    done.push('alone');
  });
  barrier.run(() => done.push('first'));
  barrier.run(() => done.push('second'));
  expect(done).toEqual(['before']);
  open();
  await alone;

  expect(done).toEqual(['before', 'alone', 'first', 'second']);
});

it('held work may become exclusive itself, and later work waits for it', async () => {
  const barrier = new MoveBarrier();
  const done: string[] = [];
  const [first, second] = [gate(), gate()];

  const moved = barrier.runExclusively(() => first.passed);
  let movedOn: Promise<void> | undefined;
  barrier.run(() => {
    movedOn = barrier.runExclusively(async () => {
      await second.passed;
      done.push('second move');
    });
  });
  barrier.run(() => done.push('after both'));
  first.open();
  await moved;
  barrier.run(() => done.push('came last'));
  expect(done).toEqual([]);
  second.open();
  await movedOn;

  expect(done).toEqual(['second move', 'after both', 'came last']);
});

it('failed exclusive work releases held work', async () => {
  const barrier = new MoveBarrier();
  const done: string[] = [];

  const failing = barrier.runExclusively(() => Promise.reject(new Error('no')));
  barrier.run(() => done.push('all the same'));

  await expect(failing).rejects.toThrow('no');
  expect(done).toEqual(['all the same']);
});

import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

function gate(): { passed: Promise<void>; open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

it('what comes while something is alone is done after it, in its order', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const { passed, open } = gate();

  turns.take(() => done.push('before'));
  const alone = turns.alone(async () => {
    await passed;
    done.push('alone');
  });
  turns.take(() => done.push('first'));
  turns.take(() => done.push('second'));
  expect(done).toEqual(['before']);
  open();
  await alone;

  expect(done).toEqual(['before', 'alone', 'first', 'second']);
});

it('one that waited may be alone itself, and the rest waits for it', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const [first, second] = [gate(), gate()];

  const moved = turns.alone(() => first.passed);
  let movedOn: Promise<void> | undefined;
  turns.take(() => {
    movedOn = turns.alone(async () => {
      await second.passed;
      done.push('second move');
    });
  });
  turns.take(() => done.push('after both'));
  first.open();
  await moved;
  turns.take(() => done.push('came last'));
  expect(done).toEqual([]);
  second.open();
  await movedOn;

  expect(done).toEqual(['second move', 'after both', 'came last']);
});

it('what fails alone holds up nothing', async () => {
  const turns = new Turns();
  const done: string[] = [];

  const failing = turns.alone(() => Promise.reject(new Error('no')));
  turns.take(() => done.push('all the same'));

  await expect(failing).rejects.toThrow('no');
  expect(done).toEqual(['all the same']);
});

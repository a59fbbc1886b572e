import { expect, it } from 'vitest';
import { SessionLane } from './session-lane.ts';

/** Work that ends on demand. */
function task(name: string, log: string[]) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = async () => {
    log.push(`${name} begins`);
    await ended;
    log.push(`${name} ends`);
  };
  return { work, end };
}

it('session commands run one at a time, even if a hold fails', async () => {
  const lane = new SessionLane();
  const log: string[] = [];
  const [first, second] = [task('first', log), task('second', log)];

  const results = [lane.run(first.work)];
  lane.holdUntil(Promise.reject(new Error('no')));
  results.push(lane.run(second.work));
  await new Promise((resolve) => setImmediate(resolve));
  const before = [...log];
  first.end();
  second.end();
  await Promise.all(results);

  expect(before).toEqual(['first begins']);
  expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
});

it('an abort reaches the commands before it, not those after it', async () => {
  const lane = new SessionLane();
  const before = lane.signal;

  lane.abort(Promise.resolve());

  expect([before.aborted, lane.signal.aborted]).toEqual([true, false]);
  await lane.whenEmpty();
});

it('a command started by a running command waits behind it, and others behind that', async () => {
  const lane = new SessionLane();
  const log: string[] = [];
  const inner = task('inner', log);
  const outer = task('outer', log);
  const last = task('last', log);

  void lane.run(() => {
    void lane.run(inner.work);
    return outer.work();
  });
  void lane.run(last.work);
  for (const { end } of [last, inner, outer]) end();
  await lane.whenEmpty();

  expect(log).toEqual(['outer begins', 'outer ends', 'inner begins', 'inner ends', 'last begins', 'last ends']);
});

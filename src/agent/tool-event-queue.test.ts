import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ToolEventQueue } from './tool-event-queue.ts';

const drain = async <T>(queue: ToolEventQueue<T>): Promise<T[]> => {
  const events: T[] = [];
  for await (const event of queue) events.push(event);
  return events;
};

const latest = <T>(_earlier: T, later: T): T => later;

it('a reader receives the events pushed before it started and while it waits', async () => {
  const queue = new ToolEventQueue<string>();
  queue.push('before');
  const reading = drain(queue);
  await Promise.resolve();

  queue.push('while');
  queue.end();

  expect(await reading).toEqual(['before', 'while']);
});

it('an empty queue ends its reader at once', async () => {
  const queue = new ToolEventQueue<string>();

  queue.end();

  expect(await drain(queue)).toEqual([]);
});

it('a queue accepts nothing after its end', async () => {
  const queue = new ToolEventQueue<string>();
  queue.push('in time');
  queue.end();

  queue.push('late');
  queue.pushMerged('a', 'late', latest);

  expect(await drain(queue)).toEqual(['in time']);
});

it('an unread event is merged in place with a later one of the same key', async () => {
  const queue = new ToolEventQueue<string>();
  queue.pushMerged('a', 'a1', latest);
  queue.push('other');
  queue.pushMerged('b', 'b1', latest);

  queue.pushMerged('a', 'a2', (earlier, later) => `${earlier}+${later}`);
  queue.end();

  expect(await drain(queue)).toEqual(['a1+a2', 'other', 'b1']);
});

it('an event that was read is not merged', async () => {
  const queue = new ToolEventQueue<string>();
  const reader = queue[Symbol.asyncIterator]();
  queue.pushMerged('a', 'a1', latest);

  const first = await reader.next();
  queue.pushMerged('a', 'a2', latest);

  expect([first.value, (await reader.next()).value]).toEqual(['a1', 'a2']);
});

it('a queue without a reader holds one event per key', async () => {
  const queue = new ToolEventQueue<number>();

  for (let count = 0; count < 10_000; count++) queue.pushMerged('a', count, latest);
  queue.end();

  expect(await drain(queue)).toEqual([9999]);
});

it('no plain event is lost or reordered, whenever it is read', async () => {
  const anyStep = fc.oneof(fc.constant('read' as const), fc.constant('push' as const), fc.constantFrom('a', 'b'));
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep), async (steps) => {
      const queue = new ToolEventQueue<{ key: string; at: number }>();
      const reader = queue[Symbol.asyncIterator]();
      const reads: Promise<IteratorResult<{ key: string; at: number }>>[] = [];
      for (const [at, step] of steps.entries()) {
        if (step === 'read') reads.push(reader.next());
        else if (step === 'push') queue.push({ key: '', at });
        else queue.pushMerged(step, { key: step, at }, latest);
        await Promise.resolve();
      }
      queue.end();

      const read = (await Promise.all(reads)).flatMap(({ value, done }) => (done ? [] : [value]));
      for await (const event of reader) read.push(event);

      const plain = read.filter(({ key }) => key === '').map(({ at }) => at);
      expect(plain).toEqual([...steps.keys()].filter((at) => steps[at] === 'push'));
      for (const key of ['a', 'b'] as const) {
        const keyed = read.filter((event) => event.key === key).map(({ at }) => at);
        expect(keyed).toEqual(keyed.toSorted((left, right) => left - right));
        expect(keyed.at(-1) ?? -1).toBe(steps.lastIndexOf(key));
      }
    }),
  );
});

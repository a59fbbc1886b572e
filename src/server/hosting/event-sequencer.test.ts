import { expect, it } from 'vitest';
import { EventSequencer } from './event-sequencer.ts';

/** A sequencer whose journal fails at the given text. */
function newSequencer(failingText: string) {
  const log: string[] = [];
  let last = 0;
  const sequencer = new EventSequencer({
    append: async (texts) => {
      if (texts.includes(failingText)) throw new Error('lost');
      last += texts.length;
      return last - texts.length + 1;
    },
    onJournalError: (error) => log.push(`journal: ${(error as Error).message}`),
    onListenerError: (error) => log.push(`listener: ${(error as Error).message}`),
    onFull: (isFull) => log.push(isFull ? 'full' : 'caught up'),
  });
  const event = (journalText: string) =>
    sequencer.push({ journalText, handle: (seq) => log.push(`${journalText} ${seq}`) });
  const response = (name: string) =>
    new Promise<void>((resolve) => {
      const handle = () => {
        log.push(name);
        resolve();
      };
      sequencer.push({ handle });
    });
  return { log, sequencer, event, response };
}

it('[W111] after a failure of the journal no event is handled, but every response is', async () => {
  const { log, event, response } = newSequencer('bad');
  event('first');
  const before = response('response 1');
  event('bad');
  const between = response('response 2');
  event('later');
  await Promise.all([before, between]);
  event('last');
  await response('response 3');

  expect(log).toEqual(['first 1', 'journal: lost', 'response 1', 'response 2', 'response 3']);
});

it('[W111] a handler that throws stops no later one', async () => {
  const { log, sequencer, event, response } = newSequencer('bad');
  sequencer.push({
    handle: () => {
      throw new Error('mine');
    },
  });
  event('first');
  await response('response');

  expect(log).toEqual(['listener: mine', 'first 1', 'response']);
});

it('[W141] beyond 16 MiB of waiting texts no more output is read until the journal has caught up', async () => {
  const { log, event, response } = newSequencer('bad');
  const long = 'x'.repeat(9 * 1024 * 1024);
  event(long);
  event(long);
  await response('response');

  expect(log.map((line) => line.slice(0, 9))).toEqual(['full', 'xxxxxxxxx', 'caught up', 'xxxxxxxxx', 'response']);
});

it('[W141] later items wait for work that a handler began', async () => {
  const { log, sequencer, event, response } = newSequencer('bad');
  let finish = () => {};
  const work = new Promise<void>((resolve) => {
    finish = resolve;
  });
  sequencer.push({ handle: () => sequencer.holdFor(work.then(() => void log.push('stored'))) });
  event('first');
  const responded = response('response');
  await new Promise((resolve) => setImmediate(resolve));
  expect(log).toEqual([]);
  finish();
  await responded;

  expect(log).toEqual(['stored', 'first 1', 'response']);
});

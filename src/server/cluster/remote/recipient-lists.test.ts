import { expect, it } from 'vitest';
import { ReceivedRecipients, SentRecipients } from './recipient-lists.ts';

it('[W145] a list of recipients that repeats crosses the network once, and none is mistaken for another', () => {
  const [sent, received] = [new SentRecipients(), new ReceivedRecipients()];
  // Sessions with one to five clients, more of them than a channel remembers lists.
  const lists = Array.from({ length: 100 }, (_, n) => Array.from({ length: 1 + (n % 5) }, (_, m) => 10 * n + m));
  for (const order of [lists, lists, lists.toReversed()])
    for (const list of order) expect(received.of(sent.fieldsOf(list))).toEqual(list);

  const fields = [1, 2, 3].map(() => sent.fieldsOf([7, 8, 9]));
  expect(fields.map(({ to }) => to)).toEqual([[7, 8, 9], undefined, undefined]);
  expect(fields.map((some) => received.of(some))).toEqual([
    [7, 8, 9],
    [7, 8, 9],
    [7, 8, 9],
  ]);
});

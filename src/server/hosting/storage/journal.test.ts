import { expect, it } from 'vitest';
import { journalContract } from '../testing/journal-contract.ts';
import { MAX_JOURNAL_CHARACTERS, MemoryJournal } from './journal.ts';

const make = (limit?: number) => () => {
  let isLost = false;
  const journal = new MemoryJournal({ isLost: () => isLost, ...(limit === undefined ? {} : { limit }) });
  const lose = () => {
    isLost = true;
  };
  return { journal, lose };
};

journalContract('a journal in memory', make());
journalContract('a small journal in memory', make(20_000));

it('beyond its size the journal drops the oldest records and keeps as many as fit', async () => {
  const journal = new MemoryJournal({ limit: 1000 });
  for (let count = 0; count < 100; count++) await journal.append(['x'.repeat(100)]);

  expect(journal.last).toBe(100);
  expect(journal.first).toBeGreaterThan(90);
  expect((await journal.read(journal.first - 1))?.length).toBe(journal.last - journal.first + 1);
  expect(await journal.read(journal.first - 2)).toBeUndefined();
});

it('a record larger than the journal is not kept', async () => {
  const journal = new MemoryJournal();
  await journal.append(['x'.repeat(MAX_JOURNAL_CHARACTERS + 1)]);
  expect([journal.first, journal.last]).toEqual([2, 1]);
  expect(await journal.read(1)).toEqual([]);
});

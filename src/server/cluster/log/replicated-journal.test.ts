import { expect, it } from 'vitest';
import { TEST_FACTS, testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import type { StoredEntry } from '../../hosting/storage/journal.ts';
import { journalContract } from '../../hosting/testing/journal-contract.ts';
import { NodeLease } from '../nodes/node-lease.ts';
import { LogOwnership } from './log-ownership.ts';
import { appendEntries, ReplicatedJournal } from './replicated-journal.ts';

const cluster = testCluster();

let sessions = 0;
let lease: Promise<NodeLease> | undefined;

async function make(limit?: number) {
  lease ??= NodeLease.take(cluster.connection, { name: 'journal', facts: () => TEST_FACTS });
  const id = `journal-${++sessions}`;
  const claim = await new LogOwnership(cluster.connection, await lease).claim(id);
  if (!claim) throw new Error('The session is owned');
  let isLost = false;
  const lost = Object.defineProperty(new AbortController().signal, 'aborted', { get: () => isLost });
  const kept: string[] = [];
  const append = async (entries: readonly StoredEntry[]) => {
    await appendEntries(claim, entries);
    kept.push(...entries.map((entry) => JSON.stringify(entry)));
  };
  const journal = new ReplicatedJournal({ lost, append }, limit);
  const lose = () => {
    isLost = true;
  };
  return { journal, lose, claim, kept };
}

journalContract('a journal with a log', make);
journalContract('a small journal with a log', () => make(20_000));

it('[W140] entries are in the log, byte for byte, when their append settles, and nothing else is', async () => {
  const { journal, claim, kept } = await make();
  const lines = [
    '{"type":"session","id":"x","timestamp":"2030-01-01T00:00:00.000Z","cwd":"/"}',
    '{"type":"custom","id":"a","parentId":null,"timestamp":"","customType":"x","data":"ä \u2028"}',
  ];

  await journal.append(
    ['{"type":"agent_start"}', '{"type":"agent_settled"}'],
    lines.map((line) => JSON.parse(line) as StoredEntry),
  );

  const last = await claim.log.readLast();
  expect(last).toMatchObject({ kind: 'entries', token: claim.token });
  expect(new TextDecoder().decode(last?.data)).toBe(`${lines.join('\n')}\n`);
  expect(kept).toEqual(lines);
  await journal.append(['{"type":"turn_start"}']);
  expect((await claim.log.readLast())?.seq).toBe(last?.seq);
  expect(journal.last).toBe(3);
});

import { expect, it } from 'vitest';
import { testCluster } from '../../../test/support/cluster/test-cluster.ts';
import { journalContract } from '../hosting/testing/journal-contract.ts';
import { LogOwnership } from './log-ownership.ts';
import { NodeLease } from './node-lease.ts';
import { ReplicatedJournal } from './replicated-journal.ts';

const cluster = testCluster();

let sessions = 0;
let lease: Promise<NodeLease> | undefined;

async function make(limit?: number) {
  lease ??= NodeLease.take(cluster.connection, { name: 'journal', version: 'test' });
  const id = `journal-${++sessions}`;
  const claim = await new LogOwnership(cluster.connection, await lease).claim(id);
  if (!claim) throw new Error('The session is owned');
  let isLost = false;
  const lost = Object.defineProperty(new AbortController().signal, 'aborted', { get: () => isLost });
  const kept: string[] = [];
  const onKept = (line: string) => kept.push(line);
  const journal = new ReplicatedJournal({ ...claim, lost }, { onKept, ...(limit === undefined ? {} : { limit }) });
  const lose = () => {
    isLost = true;
  };
  return { journal, lose, claim, kept };
}

journalContract('a journal with a log', make);
journalContract('a small journal with a log', () => make(20_000));

it('entries are in the log, byte for byte, when their append settles, and nothing else is', async () => {
  const { journal, claim, kept } = await make();
  const lines = ['{"type":"session","id":"x"}', '{"type":"message","id":"a","text":"ä \\u2028"}'];
  const event = (line: string | undefined) => `{"type":"entry_appended","entry":${line}}`;

  await journal.append(['{"type":"agent_start"}', event(lines[0]), event(lines[1]), '{"type":"agent_settled"}']);

  const last = await claim.log.readLast();
  expect(last).toMatchObject({ kind: 'entries', token: claim.token });
  expect(new TextDecoder().decode(last?.data)).toBe(`${lines.join('\n')}\n`);
  expect(kept).toEqual([lines[1]]);
  await journal.append(['{"type":"turn_start"}']);
  expect((await claim.log.readLast())?.seq).toBe(last?.seq);
  expect(journal.last).toBe(5);
});

import { expect, it } from 'vitest';
import { testCluster } from '../../../test/support/cluster/test-cluster.ts';
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import { journalContract } from '../hosting/testing/journal-contract.ts';
import { LogOwnership } from './log-ownership.ts';
import { NodeLease } from './node-lease.ts';
import { appendLines, ReplicatedJournal } from './replicated-journal.ts';

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
  const append = async (lines: readonly string[]) => {
    await appendLines(claim, lines);
    kept.push(...lines);
  };
  const begin = async (sessionId: string) => void kept.push(`begin ${sessionId}`);
  const journal = new ReplicatedJournal({ lost, append, begin }, limit);
  const lose = () => {
    isLost = true;
  };
  return { journal, lose, claim, kept };
}

journalContract('a journal with a log', make);
journalContract('a small journal with a log', () => make(20_000));

it('[W140] entries are in the log, byte for byte, when their append settles, and nothing else is', async () => {
  const { journal, claim, kept } = await make();
  const lines = ['{"type":"session","id":"x"}', '{"type":"message","id":"a","text":"ä \u2028"}'];
  const event = (line = '') => escapeLineBreaks(`{"type":"entry_appended","entry":${line}}`);

  await journal.append(['{"type":"agent_start"}', '{"type":"agent_settled"}'], [event(lines[0]), event(lines[1])]);

  const last = await claim.log.readLast();
  expect(last).toMatchObject({ kind: 'entries', token: claim.token });
  expect(new TextDecoder().decode(last?.data)).toBe(`${lines.join('\n')}\n`);
  expect(kept).toEqual(['begin x', ...lines]);
  await journal.append(['{"type":"turn_start"}']);
  expect((await claim.log.readLast())?.seq).toBe(last?.seq);
  expect(journal.last).toBe(3);
});

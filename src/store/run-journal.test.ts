import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { AgentSettledEvent } from '../protocol/generated/vocabulary.ts';
import { RunJournal, type RunRecords } from './run-journal.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tau-marks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const settled: AgentSettledEvent = {
  type: 'agent_settled',
  runId: 'r1',
  aborted: false,
  outcome: 'ok',
  clientMessageIds: [],
};
const records: RunRecords = {
  running: { epoch: 'e2', runId: 'r2', clientMessageIds: ['m'] },
  ended: [
    { epoch: 'e1', settled },
    { epoch: 'e2', seq: 7, settled },
  ],
};

it('a journal returns what was written last, also to a new instance', () => {
  const folder = newFolder();
  const journal = new RunJournal(folder);
  journal.set('s', { ended: [] });
  journal.set('s', records);

  expect(new RunJournal(folder).get('s')).toEqual(records);
  journal.clear('s');
  journal.clear('s');

  expect(journal.get('s')).toEqual({ ended: [] });
  expect(readdirSync(folder)).toEqual([]);
});

it('files stay in the folder, whatever the session id', () => {
  const folder = newFolder();
  const journal = new RunJournal(folder);

  for (const id of ['../../x', '..', 'a/b', 'x'.repeat(500)]) journal.set(id, records);

  expect(readdirSync(folder)).toHaveLength(4);
});

it.each([
  '',
  '[]',
  '{"running":5,"ended":"x"}',
  '{"running":{"epoch":"e"},"ended":[null,{},{"epoch":"e","seq":"1","settled":{"type":"agent_settled"}}]}',
])('a malformed file counts as empty: %s', (text) => {
  const folder = newFolder();
  const journal = new RunJournal(folder);
  journal.set('s', records);
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), text);

  expect(journal.get('s')).toEqual({ ended: [] });
});

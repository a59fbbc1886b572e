import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { AgentSettledEvent } from '../protocol/generated/vocabulary.ts';
import { RunMarks, type RunNotes } from './run-marks.ts';

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
const notes: RunNotes = {
  running: { epoch: 'e2', runId: 'r2', clientMessageIds: ['m'] },
  ended: [
    { epoch: 'e1', settled },
    { epoch: 'e2', seq: 7, settled },
  ],
};

it('has what was written last, also for those who come later', () => {
  const folder = newFolder();
  const marks = new RunMarks(folder);
  marks.set('s', { ended: [] });
  marks.set('s', notes);

  expect(new RunMarks(folder).get('s')).toEqual(notes);
  marks.clear('s');
  marks.clear('s');

  expect(marks.get('s')).toEqual({ ended: [] });
  expect(readdirSync(folder)).toEqual([]);
});

it('keeps to its folder, whatever a session is called', () => {
  const folder = newFolder();
  const marks = new RunMarks(folder);

  for (const id of ['../../x', '..', 'a/b', 'x'.repeat(500)]) marks.set(id, notes);

  expect(readdirSync(folder)).toHaveLength(4);
});

it.each([
  '',
  '[]',
  '{"running":5,"ended":"x"}',
  '{"running":{"epoch":"e"},"ended":[null,{},{"epoch":"e","seq":"1","settled":{"type":"agent_settled"}}]}',
])('learns nothing from a file that makes no sense: %s', (text) => {
  const folder = newFolder();
  const marks = new RunMarks(folder);
  marks.set('s', notes);
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), text);

  expect(marks.get('s')).toEqual({ ended: [] });
});

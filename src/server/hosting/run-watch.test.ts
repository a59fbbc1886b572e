import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentEvent, AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import { RunJournal } from '../../store/run-journal.ts';
import { Answer } from './answer.ts';
import { RunWatch } from './run-watch.ts';

const newMarks = () => new RunJournal(join(mkdtempSync(join(tmpdir(), 'tau-runs-')), 'runs'));

const settled = (runId: string): AgentSettledEvent => ({
  type: 'agent_settled',
  runId,
  aborted: false,
  outcome: 'ok',
  clientMessageIds: [],
});

function watched(marks = newMarks(), epoch = 'epoch') {
  const runs = new RunWatch(marks, () => epoch);
  runs.enter('s');
  let seq = 0;
  const hear = (event: AgentEvent) => runs.hear(event, ++seq);
  const accept = (clientMessageId: string, data: object) =>
    runs.answered({ type: 'prompt', clientMessageId }, Answer.success('prompt', data));
  const queue = (...ids: string[]) =>
    hear({
      type: 'queue_update',
      steering: [],
      followUp: [],
      items: ids.map((id) => ({ id, kind: 'steer', text: '' })),
    });
  return { runs, marks, accept, hear, queue };
}

it('writes down which messages a run serves, and forgets them when it is over', () => {
  const { runs, marks, accept, hear } = watched();
  accept('a', { disposition: 'started', runId: 'r' });
  expect(runs.isActive).toBe(true);
  expect(marks.get('s').running).toEqual({ epoch: 'epoch', runId: 'r', clientMessageIds: ['a'] });

  hear({ type: 'agent_settled', runId: 'r', aborted: false, outcome: 'ok', clientMessageIds: ['a'] });

  expect(runs.isActive).toBe(false);
  expect(runs.cutOff()).toBeUndefined();
  expect(marks.get('s').running).toBeUndefined();
});

it('counts a queued message as served when it waits no longer', () => {
  const { runs, accept, queue } = watched();
  accept('a', { disposition: 'started', runId: 'r' });
  queue('q1', 'q2');
  accept('b', { disposition: 'queued', runId: 'r', queueId: 'q1' });
  accept('c', { disposition: 'queued', runId: 'r', queueId: 'q2' });
  queue('q2');

  expect(runs.cutOff()).toMatchObject({ runId: 'r', errorCode: 'interrupted', clientMessageIds: ['a', 'b'] });
});

it('knows a run that nobody asked for as soon as somebody says its id, with what it has served before', () => {
  const { runs, accept, hear, queue } = watched();
  accept('b', { disposition: 'queued', runId: 'r1', queueId: 'q1' });
  hear({ type: 'agent_settled', runId: 'r1', aborted: true, outcome: 'aborted', clientMessageIds: [] });
  hear({ type: 'agent_start' });
  expect([runs.isActive, runs.isKnown]).toEqual([true, false]);
  queue();
  runs.goesOn('r2');

  expect(runs.cutOff()).toMatchObject({ runId: 'r2', clientMessageIds: ['b'] });
});

it('takes no run for active that is over already', () => {
  const { runs, accept, hear } = watched();
  accept('a', { disposition: 'started', runId: 'r' });
  hear({ type: 'agent_settled', runId: 'r', aborted: true, outcome: 'aborted', clientMessageIds: ['a'] });
  accept('b', { disposition: 'queued', runId: 'r', queueId: 'q' });

  expect(runs.isActive).toBe(false);
});

it('has nothing to do with messages that open no run', () => {
  const { runs, accept } = watched();
  accept('a', { disposition: 'handled' });
  runs.answered({ type: 'prompt' }, Answer.refusal('prompt', { code: 'agent_busy', message: 'busy' }));
  runs.answered({ type: 'get_state' }, Answer.success('get_state', { runId: 'r' }));

  expect(runs.isActive).toBe(false);
});

it('knows which ends somebody has not heard', () => {
  const { runs, hear } = watched();
  for (const runId of ['a', 'b', 'c']) hear(settled(runId));

  const missedAfter = (after: number) => runs.missedBy({ epoch: 'epoch', after }).map(({ runId }) => runId);
  expect([0, 1, 2, 3].map(missedAfter)).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c'], []]);
  expect(runs.missedBy({ epoch: 'another', after: 0 })).toEqual([]);
});

it('ends what a server before it has left unfinished, and tells it to whoever was there, however many servers die', () => {
  const first = watched(newMarks(), 'e1');
  first.hear(settled('heard'));
  first.accept('m', { disposition: 'started', runId: 'cut off' });
  const second = watched(first.marks, 'e2');
  second.accept('n', { disposition: 'started', runId: 'cut off, too' });
  const { runs, hear } = watched(first.marks, 'e3');
  hear(settled('late'));

  const missed = runs.missedBy({ epoch: 'e1', after: 1 });
  expect(missed.map(({ runId }) => runId)).toEqual(['cut off', 'cut off, too', 'late']);
  expect(missed[0]).toMatchObject({ outcome: 'error', errorCode: 'interrupted', clientMessageIds: ['m'] });
  expect(runs.missedBy({ epoch: 'e2', after: 0 }).map(({ runId }) => runId)).toEqual(['cut off, too', 'late']);
  expect(runs.isActive).toBe(false);
});

it('keeps a run that was cut off until its end is told', () => {
  const { runs, marks, accept, hear } = watched();
  accept('a', { disposition: 'started', runId: 'r' });
  const end = runs.cutOff();
  expect(marks.get('s').running).toMatchObject({ runId: 'r' });
  if (end) hear(end);

  expect(marks.get('s')).toEqual({ ended: [{ epoch: 'epoch', seq: 1, settled: end }] });
});

it('remembers a number of ends, and nothing when nobody is expected', () => {
  const { runs, marks, hear } = watched();
  for (let count = 0; count < 30; count++) hear(settled(`${count}`));

  expect(marks.get('s').ended).toHaveLength(20);
  runs.forget();
  expect(marks.get('s')).toEqual({ ended: [] });
});

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentEvent, AgentSettledEvent } from '../../protocol/generated/vocabulary.ts';
import { RunJournal } from '../../store/run-journal.ts';
import { AgentResponse } from '../agent-response.ts';
import { RunTracker } from './run-tracker.ts';

const newRunJournal = () => new RunJournal(join(mkdtempSync(join(tmpdir(), 'tau-runs-')), 'runs'));

const settled = (runId: string): AgentSettledEvent => ({
  type: 'agent_settled',
  runId,
  aborted: false,
  outcome: 'ok',
  clientMessageIds: [],
});

function newTracker(runJournal = newRunJournal(), epoch = 'epoch') {
  const runs = new RunTracker(runJournal, () => epoch);
  runs.enterSession('s');
  let seq = 0;
  const apply = (event: AgentEvent) => runs.apply(event, ++seq);
  const accept = (clientMessageId: string, data: object) =>
    runs.handleResponse({ type: 'prompt', clientMessageId }, AgentResponse.success('prompt', data));
  const queue = (...ids: string[]) =>
    apply({
      type: 'queue_update',
      steering: [],
      followUp: [],
      items: ids.map((id) => ({ id, kind: 'steer', text: '' })),
    });
  return { runs, runJournal, accept, apply, queue };
}

it('the messages of a run are stored, and removed when it ends', () => {
  const { runs, runJournal, accept, apply } = newTracker();
  accept('a', { disposition: 'started', runId: 'r' });
  expect(runs.isActive).toBe(true);
  expect(runJournal.get('s').running).toEqual({ epoch: 'epoch', runId: 'r', clientMessageIds: ['a'] });

  apply({ type: 'agent_settled', runId: 'r', aborted: false, outcome: 'ok', clientMessageIds: ['a'] });

  expect(runs.isActive).toBe(false);
  expect(runs.interruptedEnd()).toBeUndefined();
  expect(runJournal.get('s').running).toBeUndefined();
});

it('a queued message belongs to the run once it leaves the queue', () => {
  const { runs, accept, queue } = newTracker();
  accept('a', { disposition: 'started', runId: 'r' });
  queue('q1', 'q2');
  accept('b', { disposition: 'queued', runId: 'r', queueId: 'q1' });
  accept('c', { disposition: 'queued', runId: 'r', queueId: 'q2' });
  queue('q2');

  expect(runs.interruptedEnd()).toMatchObject({ runId: 'r', errorCode: 'interrupted', clientMessageIds: ['a', 'b'] });
});

it('a run without a known id gets it later, with the messages it served before', () => {
  const { runs, accept, apply, queue } = newTracker();
  accept('b', { disposition: 'queued', runId: 'r1', queueId: 'q1' });
  apply({ type: 'agent_settled', runId: 'r1', aborted: true, outcome: 'aborted', clientMessageIds: [] });
  apply({ type: 'agent_start' });
  expect([runs.isActive, runs.hasRunId]).toEqual([true, false]);
  queue();
  runs.markRunning('r2');

  expect(runs.interruptedEnd()).toMatchObject({ runId: 'r2', clientMessageIds: ['b'] });
});

it('a message that leaves the queue between runs belongs to the run that starts without a response', () => {
  const { runs, accept, apply, queue } = newTracker();
  const remove = (queueId: string) =>
    runs.handleResponse({ type: 'remove_queued', queueId }, AgentResponse.success('remove_queued', { text: '' }));
  accept('a', { disposition: 'queued', queueId: 'q1' });
  accept('b', { disposition: 'queued', queueId: 'q2' });
  queue('q1');
  remove('q2');
  queue();
  apply({ type: 'agent_start' });
  runs.markRunning('r');

  expect(runs.interruptedEnd()).toMatchObject({ runId: 'r', clientMessageIds: ['a'] });
});

it('a message that left the queue between runs does not belong to the run of a later prompt', () => {
  const { runs, accept, apply, queue } = newTracker();
  accept('handled by an extension', { disposition: 'queued', queueId: 'q' });
  queue();
  accept('a', { disposition: 'started', runId: 'r' });
  apply({ type: 'agent_start' });

  expect(runs.interruptedEnd()).toMatchObject({ runId: 'r', clientMessageIds: ['a'] });
});

it('a settled run does not become active again', () => {
  const { runs, accept, apply } = newTracker();
  accept('a', { disposition: 'started', runId: 'r' });
  apply({ type: 'agent_settled', runId: 'r', aborted: true, outcome: 'aborted', clientMessageIds: ['a'] });
  accept('b', { disposition: 'queued', runId: 'r', queueId: 'q' });

  expect(runs.isActive).toBe(false);
});

it('responses that start no run change nothing', () => {
  const { runs, accept } = newTracker();
  accept('a', { disposition: 'handled' });
  runs.handleResponse({ type: 'prompt' }, AgentResponse.refusal('prompt', { code: 'agent_busy', message: 'busy' }));
  runs.handleResponse({ type: 'get_state' }, AgentResponse.success('get_state', { runId: 'r' }));

  expect(runs.isActive).toBe(false);
});

it('endsAfter returns the run ends after a cursor', () => {
  const { runs, apply } = newTracker();
  for (const runId of ['a', 'b', 'c']) apply(settled(runId));

  const missedAfter = (after: number) => runs.endsAfter({ epoch: 'epoch', after }).map(({ runId }) => runId);
  expect([0, 1, 2, 3].map(missedAfter)).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c'], []]);
  expect(runs.endsAfter({ epoch: 'another', after: 0 })).toEqual([]);
});

it('runs interrupted by a server crash end as interrupted for clients of every earlier epoch', () => {
  const first = newTracker(newRunJournal(), 'e1');
  first.apply(settled('heard'));
  first.accept('m', { disposition: 'started', runId: 'cut off' });
  const second = newTracker(first.runJournal, 'e2');
  second.accept('n', { disposition: 'started', runId: 'cut off, too' });
  const { runs, apply } = newTracker(first.runJournal, 'e3');
  apply(settled('late'));

  const missed = runs.endsAfter({ epoch: 'e1', after: 1 });
  expect(missed.map(({ runId }) => runId)).toEqual(['cut off', 'cut off, too', 'late']);
  expect(missed[0]).toMatchObject({ outcome: 'error', errorCode: 'interrupted', clientMessageIds: ['m'] });
  expect(runs.endsAfter({ epoch: 'e2', after: 0 }).map(({ runId }) => runId)).toEqual(['cut off, too', 'late']);
  expect(runs.isActive).toBe(false);
});

it('an interrupted run whose id is unknown gets one', () => {
  const { runs, apply } = newTracker();
  apply({ type: 'agent_start' });

  expect(runs.interruptedEnd()).toMatchObject({ runId: expect.stringMatching(/^[\da-f-]{36}$/) });
});

it('an interrupted run stays stored until its end is published', () => {
  const { runs, runJournal, accept, apply } = newTracker();
  accept('a', { disposition: 'started', runId: 'r' });
  const end = runs.interruptedEnd();
  expect(runJournal.get('s').running).toMatchObject({ runId: 'r' });
  if (end) apply(end);

  expect(runJournal.get('s')).toEqual({ ended: [{ epoch: 'epoch', seq: 1, settled: end }] });
});

it('a limited number of run ends is stored, and none after forget', () => {
  const { runs, runJournal, apply } = newTracker();
  for (let count = 0; count < 30; count++) apply(settled(`${count}`));

  expect(runJournal.get('s').ended).toHaveLength(20);
  runs.forget();
  expect(runJournal.get('s')).toEqual({ ended: [] });
});

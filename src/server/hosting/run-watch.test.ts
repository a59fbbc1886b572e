import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RunMarks } from '../../store/run-marks.ts';
import { Answer } from './answer.ts';
import { RunWatch } from './run-watch.ts';

function watched() {
  const marks = new RunMarks(join(mkdtempSync(join(tmpdir(), 'tau-runs-')), 'runs'));
  const runs = new RunWatch(marks, () => 'epoch');
  runs.enter('s');
  const accept = (clientMessageId: string, data: object) =>
    runs.answered({ type: 'prompt', clientMessageId }, Answer.success('prompt', data));
  const queue = (...ids: string[]) =>
    runs.hear({
      type: 'queue_update',
      steering: [],
      followUp: [],
      items: ids.map((id) => ({ id, kind: 'steer', text: '' })),
    });
  return { runs, marks, accept, queue };
}

it('writes down which messages a run serves, and forgets them when it is over', () => {
  const { runs, marks, accept } = watched();
  accept('a', { disposition: 'started', runId: 'r' });
  expect(runs.isActive).toBe(true);
  expect(marks.get('s')).toEqual({ epoch: 'epoch', runId: 'r', clientMessageIds: ['a'] });

  runs.hear({ type: 'agent_settled', runId: 'r', aborted: false, outcome: 'ok', clientMessageIds: ['a'] });

  expect(runs.isActive).toBe(false);
  expect(runs.cutOff()).toBeUndefined();
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
  const { runs, accept, queue } = watched();
  accept('b', { disposition: 'queued', runId: 'r1', queueId: 'q1' });
  runs.hear({ type: 'agent_settled', runId: 'r1', aborted: true, outcome: 'aborted', clientMessageIds: [] });
  runs.hear({ type: 'agent_start' });
  expect([runs.isActive, runs.isKnown]).toEqual([true, false]);
  queue();
  runs.goesOn('r2');

  expect(runs.cutOff()).toMatchObject({ runId: 'r2', clientMessageIds: ['b'] });
});

it('takes no run for active that is over already', () => {
  const { runs, accept } = watched();
  accept('a', { disposition: 'started', runId: 'r' });
  runs.hear({ type: 'agent_settled', runId: 'r', aborted: true, outcome: 'aborted', clientMessageIds: ['a'] });
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

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FinishedTaskTimer } from './finished-task-timer.ts';
import { planFrom, type TaskDraft } from './plan.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function newTimer() {
  const due: string[][] = [];
  return { due, timer: new FinishedTaskTimer((ids) => due.push([...ids])) };
}

const plan = (...statuses: TaskDraft['status'][]) =>
  planFrom([{ name: 'a', tasks: statuses.map((status) => ({ content: 'x', status })) }]);

it('tasks that finish together expire together after the delay', () => {
  const { due, timer } = newTimer();

  timer.update(plan('completed', 'pending', 'abandoned', 'blocked', 'in_progress'), 60);
  vi.advanceTimersByTime(59_999);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(1);

  expect(due).toEqual([['task-1', 'task-3']]);
});

it('every task has its own delay, however often the plan is updated', () => {
  const { due, timer } = newTimer();

  timer.update(plan('completed', 'pending'), 60);
  vi.advanceTimersByTime(40_000);
  timer.update(plan('completed', 'completed'), 60);
  vi.advanceTimersByTime(20_000);
  expect(due).toEqual([['task-1']]);
  vi.advanceTimersByTime(40_000);

  expect(due).toEqual([['task-1'], ['task-2']]);
});

it('[O16] a reopened task stays, and gets the full delay when it is finished again', () => {
  const { due, timer } = newTimer();

  timer.update(plan('completed'), 60);
  vi.advanceTimersByTime(30_000);
  timer.update(plan('pending'), 60);
  timer.update(plan('completed'), 60);
  vi.advanceTimersByTime(59_999);
  expect(due).toEqual([]);
  vi.advanceTimersByTime(1);

  expect(due).toEqual([['task-1']]);
});

it('a delay of zero expires soon, a negative delay never', () => {
  const { due, timer } = newTimer();

  timer.update(plan('completed'), -1);
  vi.runAllTimers();
  expect(due).toEqual([]);
  timer.update(plan('completed'), 0);
  expect(due).toEqual([]);
  vi.runAllTimers();

  expect(due).toEqual([['task-1']]);
});

it('no task expires after stop', () => {
  const { due, timer } = newTimer();

  timer.update(plan('completed'), 60);
  timer.stop();
  vi.runAllTimers();

  expect(due).toEqual([]);
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Clearing } from './clearing.ts';
import { planFrom, type TaskDraft } from './plan.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function newClearing() {
  const told: string[][] = [];
  return { told, clearing: new Clearing((ids) => told.push([...ids])) };
}

const plan = (...statuses: TaskDraft['status'][]) =>
  planFrom([{ name: 'a', tasks: statuses.map((status) => ({ content: 'x', status })) }]);

it('tells what was finished together at once, after the time', () => {
  const { told, clearing } = newClearing();

  clearing.watch(plan('completed', 'pending', 'abandoned', 'blocked', 'in_progress'), 60);
  vi.advanceTimersByTime(59_999);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);

  expect(told).toEqual([['task-1', 'task-3']]);
});

it('every task has its own time, however often the plan is looked at', () => {
  const { told, clearing } = newClearing();

  clearing.watch(plan('completed', 'pending'), 60);
  vi.advanceTimersByTime(40_000);
  clearing.watch(plan('completed', 'completed'), 60);
  vi.advanceTimersByTime(20_000);
  expect(told).toEqual([['task-1']]);
  vi.advanceTimersByTime(40_000);

  expect(told).toEqual([['task-1'], ['task-2']]);
});

it('what is taken up again stays, and waits the whole time when it is finished again', () => {
  const { told, clearing } = newClearing();

  clearing.watch(plan('completed'), 60);
  vi.advanceTimersByTime(30_000);
  clearing.watch(plan('pending'), 60);
  clearing.watch(plan('completed'), 60);
  vi.advanceTimersByTime(59_999);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);

  expect(told).toEqual([['task-1']]);
});

it('no time at all is soon, less than none is never', () => {
  const { told, clearing } = newClearing();

  clearing.watch(plan('completed'), -1);
  vi.runAllTimers();
  expect(told).toEqual([]);
  clearing.watch(plan('completed'), 0);
  expect(told).toEqual([]);
  vi.runAllTimers();

  expect(told).toEqual([['task-1']]);
});

it('tells nothing once it was stopped', () => {
  const { told, clearing } = newClearing();

  clearing.watch(plan('completed'), 60);
  clearing.stop();
  vi.runAllTimers();

  expect(told).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { planFrom, type TodoPlan } from './plan.ts';
import { applyOperations, type Operation } from './plan-operations.ts';

const start = planFrom([
  { name: 'Look', tasks: [{ content: 'read', status: 'in_progress' }, { content: 'ask' }] },
  { name: 'Do', tasks: [{ content: 'write', notes: 'soon' }] },
]);

const brief = (plan: TodoPlan) =>
  plan.map(({ id, name, tasks }) => {
    const words = tasks.map((task) => `${task.id} ${task.content} ${task.status}`);
    return `${id} ${name}: ${words.join(', ')}`;
  });

const applyAll = (...operations: Operation[]) => {
  const { plan, errors } = applyOperations(operations, start);
  expect(errors).toEqual([]);
  return brief(plan);
};

describe('an operation', () => {
  it('replaces the plan, and its first task is in progress', () => {
    const phases = [{ name: 'Only', tasks: [{ content: 'one' }, { content: 'two', status: 'blocked' as const }] }];

    expect(applyAll({ op: 'replace', phases })).toEqual(['phase-1 Only: task-1 one in_progress, task-2 two blocked']);
    expect(applyAll({ op: 'replace', phases: [] })).toEqual([]);
  });

  it('adds phases and tasks with new ids, by the id or name of a phase', () => {
    const [, done, more] = applyAll(
      { op: 'add_phase', name: 'More', tasks: [{ content: 'rest' }] },
      { op: 'add_task', phase: 'phase-2', content: 'test' },
      { op: 'add_task', phase: 'More', content: 'sleep', notes: 'well' },
    );

    expect(done).toBe('phase-2 Do: task-3 write pending, task-5 test pending');
    expect(more).toBe('phase-3 More: task-4 rest pending, task-6 sleep pending');
  });

  it('updates only the given fields', () => {
    const { plan } = applyOperations([{ op: 'update', id: 'task-3', content: 'write it' }], start);

    expect(plan[1]?.tasks).toEqual([{ id: 'task-3', content: 'write it', status: 'pending', notes: 'soon' }]);
    expect(plan[0]).toEqual(start[0]);
  });

  it('removes notes by a blank value', () => {
    const { plan } = applyOperations([{ op: 'update', id: 'task-3', notes: ' ' }], start);

    expect(plan[1]?.tasks).toEqual([{ id: 'task-3', content: 'write', status: 'pending' }]);
  });

  it('removes a task and keeps its phase', () => {
    expect(applyAll({ op: 'remove_task', id: 'task-3' })[1]).toBe('phase-2 Do: ');
  });
});

describe('the task in progress', () => {
  it('is the next one when the current one is finished', () => {
    expect(applyAll({ op: 'update', id: 'task-1', status: 'completed' })[0]).toBe(
      'phase-1 Look: task-1 read completed, task-2 ask in_progress',
    );
  });

  it('is the one started in the same call, in any order of operations', () => {
    const ops: Operation[] = [
      { op: 'update', id: 'task-3', status: 'in_progress' },
      { op: 'update', id: 'task-1', status: 'completed' },
    ];

    for (const operations of [ops, ops.toReversed()]) {
      expect(applyAll(...operations)).toEqual([
        'phase-1 Look: task-1 read completed, task-2 ask pending',
        'phase-2 Do: task-3 write in_progress',
      ]);
    }
  });

  it('is the first of several', () => {
    expect(applyAll({ op: 'update', id: 'task-3', status: 'in_progress' })).toEqual(brief(start));
  });
});

describe('an invalid operation', () => {
  it('gives an error, and the others are applied', () => {
    const {
      plan,
      applied: count,
      errors,
    } = applyOperations(
      [
        { op: 'update', id: 'task-9', status: 'completed' },
        { op: 'update', id: 'task-1', status: 'completed' },
        { op: 'add_task', phase: 'Nowhere', content: 'x' },
        { op: 'add_task', phase: 'Do', content: ' ' },
        { op: 'add_phase' },
        { op: 'remove_task' },
        { op: 'replace' },
        { op: 'add_task', phase: 'Do' },
      ],
      start,
    );

    expect(errors).toEqual([
      'ops[0] (update): there is no task task-9',
      'ops[2] (add_task): there is no phase Nowhere',
      'ops[3] (add_task): Invalid parameters: phases[1].tasks[1].content must not be blank',
      'ops[4] (add_phase): name is required',
      'ops[5] (remove_task): id is required',
      'ops[6] (replace): phases is required',
      'ops[7] (add_task): content is required',
    ]);
    expect(count).toBe(1);
    expect(brief(plan)[0]).toBe('phase-1 Look: task-1 read completed, task-2 ask in_progress');
  });

  it('leaves the plan unchanged if there is no valid one', () => {
    const seeded = planFrom([{ name: 'a', tasks: [{ content: 'x' }] }]);

    expect(applyOperations([{ op: 'remove_task', id: 'no' }], seeded).plan).toBe(seeded);
    expect(applyOperations([], seeded)).toEqual({ plan: seeded, applied: 0, errors: [] });
  });

  it('count above the limit throws', () => {
    const operations = Array.from({ length: 201 }, (): Operation => ({ op: 'add_phase', name: 'x' }));

    expect(() => applyOperations(operations, [])).toThrow('At most 200 ops at once');
  });
});

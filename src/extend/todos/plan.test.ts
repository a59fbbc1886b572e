import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_PHASES,
  MAX_PLAN_SIZE,
  MAX_PLAN_TEXT,
  MAX_TASKS,
  type PhaseDraft,
  planFrom,
  tasksOf,
  withNextActive,
  withOneActive,
  withoutTasks,
} from './plan.ts';

const statuses = ['pending', 'in_progress', 'completed', 'abandoned', 'blocked'] as const;

const blankOr = fc.option(fc.string(), { nil: undefined });
const words = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
/** Ids close to generated ones, so that they collide. */
const ids = fc.oneof(
  fc.constant(undefined),
  fc.constant(' '),
  fc.nat({ max: 12 }).map((number) => `task-${number}`),
  fc.nat({ max: 12 }).map((number) => `phase-0${number}`),
  fc.constantFrom('phase-1', 'phase-2', 'phase-999999999', 'task-999999999', 'task-1000000000', 'x'),
);
const drafts: fc.Arbitrary<PhaseDraft[]> = fc.array(
  fc.record({
    id: ids,
    name: words,
    tasks: fc.array(
      fc.record({
        id: ids,
        content: words,
        status: fc.constantFrom(...statuses, undefined),
        notes: blankOr,
        details: blankOr,
      }),
      { maxLength: 6 },
    ),
  }),
  { maxLength: 6 },
);

function distinct(phases: PhaseDraft[]): PhaseDraft[] {
  const seen = new Set<string>();
  const once = <T extends { readonly id?: string | undefined }>(kind: string, item: T): T => {
    const key = `${kind} ${item.id?.trim()}`;
    if (seen.has(key)) return { ...item, id: undefined };
    seen.add(key);
    return item;
  };
  return phases.map((phase) => ({
    ...once('phase', phase),
    tasks: phase.tasks?.map((task) => once('task', task)),
  }));
}

const normal = (phases: readonly PhaseDraft[]) => withOneActive(planFrom(phases));
const active = (phases: readonly PhaseDraft[]) =>
  phases.flatMap(({ tasks = [] }) => tasks.filter(({ status }) => status === 'in_progress'));

describe('a plan', () => {
  it('has unique ids and keeps the given ones', () => {
    fc.assert(
      fc.property(drafts, (given) => {
        const phases = distinct(given);
        const plan = normal(phases);
        const all = { phase: plan, task: tasksOf(plan) };

        for (const items of Object.values(all)) expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
        for (const [index, phase] of phases.entries()) {
          if (phase.id?.trim()) expect(plan[index]?.id).toBe(phase.id);
          for (const [at, { id }] of (phase.tasks ?? []).entries()) {
            if (id?.trim()) expect(plan[index]?.tasks[at]?.id).toBe(id);
          }
        }
      }),
    );
  });

  it('is stable once normalized, with at most one task in progress', () => {
    fc.assert(
      fc.property(drafts, (given) => {
        const plan = normal(distinct(given));

        expect(JSON.stringify(normal(plan))).toBe(JSON.stringify(plan));
        expect(active(plan)).toHaveLength(Math.min(active(given).length, 1));
        expect(active(plan)[0]?.content).toBe(active(given)[0]?.content.trim());
      }),
    );
  });

  it('has a task in progress after a tool call while a task is open', () => {
    fc.assert(
      fc.property(drafts, (given) => {
        const plan = planFrom(distinct(given));
        const next = withNextActive(plan);

        const isLeft = tasksOf(plan).some(({ status }) => status === 'pending' || status === 'in_progress');
        expect(active(next)).toHaveLength(isLeft ? 1 : 0);
        expect(JSON.stringify(withNextActive(next))).toBe(JSON.stringify(next));
      }),
    );
  });

  it('has a fixed order of fields, trimmed texts and no blank notes', () => {
    const task = { details: ' d ', notes: '  ', status: 'blocked', content: '\n c ', id: ' t ' } as const;

    const plan = normal([{ tasks: [task, { notes: 'n', content: 'e' }], name: ' n ' }]);

    expect(JSON.stringify(plan)).toBe(
      JSON.stringify([
        {
          id: 'phase-1',
          name: 'n',
          tasks: [
            { id: 't', content: 'c', status: 'blocked', details: 'd' },
            { id: 'task-1', content: 'e', status: 'pending', notes: 'n' },
          ],
        },
      ]),
    );
  });

  it('never generates an id that was given', () => {
    const contents = ['task-2', undefined, 'task-3', undefined].map((id) => ({ id, content: 'x' }));
    const phases = [{ id: 'phase-2', name: 'a' }, { name: 'b', tasks: contents }, { name: 'c' }];

    const plan = planFrom(phases);

    expect(plan.map(({ id }) => id)).toEqual(['phase-2', 'phase-3', 'phase-4']);
    expect(tasksOf(plan).map(({ id }) => id)).toEqual(['task-2', 'task-4', 'task-3', 'task-5']);
  });

  it('drops removed tasks and the phases they leave empty', () => {
    const plan = planFrom([
      { name: 'a', tasks: [{ content: '1' }] },
      { name: 'b', tasks: [{ content: '2' }, { content: '3' }] },
      { name: 'c', tasks: [] },
    ]);

    const left = withoutTasks(plan, new Set(['task-1', 'task-2']));

    expect(left.map(({ name, tasks }) => `${name}${tasks.map(({ content }) => content)}`)).toEqual(['b3', 'c']);
  });
});

const many = (count: number) => Array.from({ length: count }, () => ({ content: 'x' }));
const long = 'x'.repeat(MAX_PLAN_TEXT);

describe('an invalid plan is rejected with the path of the problem', () => {
  it.each<[string, PhaseDraft[]]>([
    ['phases[1].name must not be blank', [{ name: 'a' }, { name: ' ' }]],
    ['phases[0].tasks[1].content must not be blank', [{ name: 'a', tasks: [{ content: 'x' }, { content: '\t' }] }]],
    [
      'phases[1].id is "p", as that of another phase',
      [
        { id: 'p', name: 'a' },
        { id: ' p', name: 'b' },
      ],
    ],
    [
      'phases[1].tasks[0].id is "t", as that of another task',
      [
        { name: 'a', tasks: [{ id: 't', content: 'x' }] },
        { name: 'b', tasks: [{ id: 't', content: 'y' }] },
      ],
    ],
    [`phases[0].name has ${MAX_PLAN_TEXT + 1} characters of at most ${MAX_PLAN_TEXT}`, [{ name: `${long}x` }]],
    [`phases[0].id has ${MAX_PLAN_TEXT + 1} characters of at most ${MAX_PLAN_TEXT}`, [{ id: `${long}x`, name: 'a' }]],
    [
      `phases[0].tasks[0].notes has ${MAX_PLAN_TEXT + 1} characters of at most ${MAX_PLAN_TEXT}`,
      [{ name: 'a', tasks: [{ content: 'x', notes: `${long}x` }] }],
    ],
    [
      `phases[0].tasks[0].details has ${MAX_PLAN_TEXT + 1} characters of at most ${MAX_PLAN_TEXT}`,
      [{ name: 'a', tasks: [{ content: 'x', details: `${long}x` }] }],
    ],
    [
      `phases has ${MAX_PHASES + 1} of at most ${MAX_PHASES}`,
      Array.from({ length: MAX_PHASES + 1 }, () => ({ name: 'a' })),
    ],
    [`phases has ${MAX_TASKS + 1} tasks of at most ${MAX_TASKS}`, [{ name: 'a', tasks: many(MAX_TASKS + 1) }]],
  ])('%s', (problem, phases) => {
    expect(() => planFrom(phases)).toThrow(`Invalid parameters: ${problem}`);
  });

  it('[O11] for a plan that is too long as a whole', () => {
    const tasks = Array.from({ length: MAX_PLAN_SIZE / MAX_PLAN_TEXT }, () => ({ content: long }));

    expect(() => planFrom([{ name: 'a', tasks }])).toThrow(/^Invalid parameters: phases has \d+ characters/);
    expect(tasksOf(planFrom([{ name: 'a', tasks: tasks.slice(1) }]))).toHaveLength(tasks.length - 1);
  });

  it('but not at the exact limits', () => {
    const phases = Array.from({ length: MAX_PHASES }, () => ({ name: 'a', tasks: many(MAX_TASKS / MAX_PHASES) }));

    expect(tasksOf(planFrom(phases))).toHaveLength(MAX_TASKS);
    expect(planFrom([{ name: long }])[0]?.name).toBe(long);
  });
});

import { Refusal } from '../../protocol/errors.ts';
import type { TodoPhase, TodoTask } from '../../protocol/generated/vocabulary.ts';

export const MAX_PHASES = 100;
export const MAX_TASKS = 1000;
export const MAX_TEXT = 10_000;
/** Clients are told the whole plan at every change of it. */
export const MAX_CHARACTERS = 1_000_000;

export interface Task extends TodoTask {
  readonly id: string;
}

export interface Phase extends TodoPhase {
  readonly id: string;
  readonly tasks: Task[];
}

/** What somebody plans to do, in order. */
export type Plan = readonly Phase[];

/** A phase as somebody writes it down: what is left out is made up. */
export interface PhaseDraft {
  readonly id?: string | undefined;
  readonly name: string;
  readonly tasks?: readonly TaskDraft[] | undefined;
}

export interface TaskDraft {
  readonly id?: string | undefined;
  readonly content: string;
  readonly status?: TodoTask['status'] | undefined;
  readonly notes?: string | undefined;
  readonly details?: string | undefined;
}

export const tasksOf = (plan: Plan): Task[] => plan.flatMap(({ tasks }) => tasks);

export const isOpen = ({ status }: Task) => status === 'pending' || status === 'in_progress';

export const isFinished = ({ status }: Task) => status === 'completed' || status === 'abandoned';

/** A plan from drafts: texts without blanks around them, an id for everything. What cannot be is refused, and its place named. */
export function planFrom(drafts: readonly PhaseDraft[]): Plan {
  const phases = drafts.map((draft, index) => ({ ...draft, place: `phases[${index}]` }));
  const tasks = phases.flatMap(({ place, tasks = [] }) =>
    tasks.map((draft, index) => ({ ...draft, place: `${place}.tasks[${index}]` })),
  );
  if (phases.length > MAX_PHASES) throw refusal(`phases has ${phases.length} of at most ${MAX_PHASES}`);
  if (tasks.length > MAX_TASKS) throw refusal(`phases has ${tasks.length} tasks of at most ${MAX_TASKS}`);
  const phaseIds = idsFor('phase', phases);
  const taskIds = idsFor('task', tasks);
  const all = tasks.map((draft, index) => taskFrom(draft, taskIds[index] ?? ''));
  const plan = phases.map(({ name, tasks = [], place }, index) => ({
    id: phaseIds[index] ?? '',
    name: filled(name, `${place}.name`),
    tasks: all.splice(0, tasks.length),
  }));
  const { length } = JSON.stringify(plan);
  if (length > MAX_CHARACTERS) throw refusal(`phases has ${length} characters of at most ${MAX_CHARACTERS}`);
  return plan;
}

/** The plan with one task in progress at most: the first of those that are. */
export function withOneActive(plan: Plan): Plan {
  const active = tasksOf(plan).find(({ status }) => status === 'in_progress');
  return eachTask(plan, (task) => {
    return task.status === 'in_progress' && task !== active ? { ...task, status: 'pending' } : task;
  });
}

/** The plan with one task in progress, as long as there is one to begin. */
export function withNextActive(plan: Plan): Plan {
  const tasks = tasksOf(plan);
  const next = tasks.some(({ status }) => status === 'in_progress')
    ? undefined
    : tasks.find(({ status }) => status === 'pending');
  return eachTask(withOneActive(plan), (task) => (task.id === next?.id ? { ...task, status: 'in_progress' } : task));
}

/** The plan without these tasks, and without phases that have no others. */
export const without = (plan: Plan, ids: ReadonlySet<string>): Plan =>
  plan.flatMap((phase) => {
    const tasks = phase.tasks.filter(({ id }) => !ids.has(id));
    return tasks.length === 0 && phase.tasks.length > 0 ? [] : [{ ...phase, tasks }];
  });

const eachTask = (plan: Plan, change: (task: Task) => Task): Plan =>
  plan.map((phase) => ({ ...phase, tasks: phase.tasks.map(change) }));

interface Placed {
  readonly id?: string | undefined;
  readonly place: string;
}

function taskFrom({ content, status, place, ...more }: TaskDraft & Placed, id: string): Task {
  const notes = short(more.notes ?? '', `${place}.notes`);
  const details = short(more.details ?? '', `${place}.details`);
  return {
    id,
    content: filled(content, `${place}.content`),
    status: status ?? 'pending',
    ...(notes ? { notes } : {}),
    ...(details ? { details } : {}),
  };
}

/** The ids that were given, each at most once; one more than the highest number for each that is missing. */
function idsFor(kind: 'phase' | 'task', items: readonly Placed[]): string[] {
  const taken = new Set<string>();
  let last = 0;
  for (const { id, place } of items) {
    const given = short(id ?? '', `${place}.id`);
    if (given === '') continue;
    if (taken.has(given)) throw refusal(`${place}.id is ${JSON.stringify(given)}, as that of another ${kind}`);
    taken.add(given);
    last = Math.max(last, Number(given.match(new RegExp(`^${kind}-(\\d{1,9})$`))?.[1] ?? 0));
  }
  const next = () => {
    do last++;
    while (taken.has(`${kind}-${last}`));
    return `${kind}-${last}`;
  };
  return items.map(({ id }) => id?.trim() || next());
}

function filled(text: string, place: string): string {
  const kept = short(text, place);
  if (kept === '') throw refusal(`${place} must not be blank`);
  return kept;
}

function short(text: string, place: string): string {
  const kept = text.trim();
  if (kept.length > MAX_TEXT) throw refusal(`${place} has ${kept.length} characters of at most ${MAX_TEXT}`);
  return kept;
}

const refusal = (problem: string) => new Refusal('invalid_params', `Invalid parameters: ${problem}`);

import { check } from '../../protocol/check.ts';
import { Refusal } from '../../protocol/errors.ts';
import { commandParams, inboundDefinitions } from '../../protocol/generated/inbound.ts';
import type { TodoPhase, TodoTask } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';

export const MAX_PHASES = 100;
export const MAX_TASKS = 1000;
export const MAX_PLAN_TEXT = 10_000;
/** Clients receive the whole plan at every change. */
export const MAX_PLAN_SIZE = 1_000_000;

export interface PlannedTask extends TodoTask {
  readonly id: string;
}

export interface PlannedPhase extends TodoPhase {
  readonly id: string;
  readonly tasks: PlannedTask[];
}

/** The plan of a session: its phases in order. */
export type TodoPlan = readonly PlannedPhase[];

/** A phase as a client or the model writes it; missing fields get defaults. */
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

export const tasksOf = (plan: TodoPlan): PlannedTask[] => plan.flatMap(({ tasks }) => tasks);

export const isOpen = ({ status }: PlannedTask) => status === 'pending' || status === 'in_progress';

export const isFinished = ({ status }: PlannedTask) => status === 'completed' || status === 'abandoned';

/** Normalizes drafts to a plan with trimmed texts and unique ids. Throws with the path of an invalid field. */
export function planFrom(drafts: readonly PhaseDraft[]): TodoPlan {
  const phases = drafts.map((draft, index) => ({ ...draft, path: `phases[${index}]` }));
  const tasks = phases.flatMap(({ path, tasks = [] }) =>
    tasks.map((draft, index) => ({ ...draft, path: `${path}.tasks[${index}]` })),
  );
  if (phases.length > MAX_PHASES) throw invalid(`phases has ${phases.length} of at most ${MAX_PHASES}`);
  if (tasks.length > MAX_TASKS) throw invalid(`phases has ${tasks.length} tasks of at most ${MAX_TASKS}`);
  const phaseIds = idsFor('phase', phases);
  const taskIds = idsFor('task', tasks);
  const all = tasks.map((draft, index) => taskFrom(draft, taskIds[index] ?? ''));
  const plan = phases.map(({ name, tasks = [], path }, index) => ({
    id: phaseIds[index] ?? '',
    name: nonBlank(name, `${path}.name`),
    tasks: all.splice(0, tasks.length),
  }));
  const { length } = JSON.stringify(plan);
  if (length > MAX_PLAN_SIZE) throw invalid(`phases has ${length} characters of at most ${MAX_PLAN_SIZE}`);
  return plan;
}

/** The plan with at most one task in progress: the first one. */
export function withOneActive(plan: TodoPlan): TodoPlan {
  const active = tasksOf(plan).find(({ status }) => status === 'in_progress');
  return mapTasks(plan, (task) => {
    return task.status === 'in_progress' && task !== active ? { ...task, status: 'pending' } : task;
  });
}

/** The plan with one task in progress, while any task is open. */
export function withNextActive(plan: TodoPlan): TodoPlan {
  const tasks = tasksOf(plan);
  const next = tasks.some(({ status }) => status === 'in_progress')
    ? undefined
    : tasks.find(({ status }) => status === 'pending');
  return mapTasks(withOneActive(plan), (task) => (task.id === next?.id ? { ...task, status: 'in_progress' } : task));
}

/** The plan without these tasks, and without phases that become empty. */
export const withoutTasks = (plan: TodoPlan, ids: ReadonlySet<string>): TodoPlan =>
  plan.flatMap((phase) => {
    const tasks = phase.tasks.filter(({ id }) => !ids.has(id));
    return tasks.length === 0 && phase.tasks.length > 0 ? [] : [{ ...phase, tasks }];
  });

const mapTasks = (plan: TodoPlan, change: (task: PlannedTask) => PlannedTask): TodoPlan =>
  plan.map((phase) => ({ ...phase, tasks: phase.tasks.map(change) }));

interface WithPath {
  readonly id?: string | undefined;
  readonly path: string;
}

function taskFrom({ content, status, path, ...more }: TaskDraft & WithPath, id: string): PlannedTask {
  const notes = trimmed(more.notes ?? '', `${path}.notes`);
  const details = trimmed(more.details ?? '', `${path}.details`);
  return {
    id,
    content: nonBlank(content, `${path}.content`),
    status: status ?? 'pending',
    ...(notes ? { notes } : {}),
    ...(details ? { details } : {}),
  };
}

// Keeps given ids, which must be unique, and numbers the others after the highest one.
function idsFor(kind: 'phase' | 'task', items: readonly WithPath[]): string[] {
  const taken = new Set<string>();
  let last = 0;
  for (const { id, path } of items) {
    const given = trimmed(id ?? '', `${path}.id`);
    if (given === '') continue;
    if (taken.has(given)) throw invalid(`${path}.id is ${JSON.stringify(given)}, as that of another ${kind}`);
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

function nonBlank(text: string, path: string): string {
  const kept = trimmed(text, path);
  if (kept === '') throw invalid(`${path} must not be blank`);
  return kept;
}

function trimmed(text: string, path: string): string {
  const kept = text.trim();
  if (kept.length > MAX_PLAN_TEXT) throw invalid(`${path} has ${kept.length} characters of at most ${MAX_PLAN_TEXT}`);
  return kept;
}

const invalid = (problem: string) => new Refusal('invalid_params', `Invalid parameters: ${problem}`);

/** The plan in an entry; empty if the entry is malformed. */
export function storedPlan(log: SessionLog, entryId: string): TodoPlan {
  const entry = log.entry(entryId);
  const phases = entry?.type === 'custom' ? entry.data : undefined;
  if (check(commandParams.set_todos, { phases }, { definitions: inboundDefinitions }) !== undefined) return [];
  try {
    return planFrom(phases as TodoPhase[]);
  } catch {
    return [];
  }
}

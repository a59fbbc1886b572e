import { messageOf } from '../../protocol/errors.ts';
import { type PhaseDraft, planFrom, type TaskDraft, type TodoPlan, tasksOf, withNextActive } from './plan.ts';

const MAX_OPERATIONS = 200;

/** An operation of the todo tool. */
export interface Operation extends Partial<TaskDraft> {
  readonly op: 'replace' | 'add_phase' | 'add_task' | 'update' | 'remove_task';
  readonly phases?: readonly PhaseDraft[];
  readonly name?: string;
  readonly tasks?: readonly TaskDraft[];
  readonly phase?: string;
}

export interface OperationsResult {
  readonly plan: TodoPlan;
  readonly applied: number;
  readonly errors: readonly string[];
}

/** Applies the operations in order; an invalid one gives an error and does not stop the others. */
export function applyOperations(operations: readonly Operation[], before: TodoPlan): OperationsResult {
  if (operations.length > MAX_OPERATIONS) throw new Error(`At most ${MAX_OPERATIONS} ops at once`);
  const errors: string[] = [];
  let plan = before;
  for (const [index, operation] of operations.entries()) {
    try {
      plan = planFrom(appliers[operation.op](plan, operation));
    } catch (error) {
      errors.push(`ops[${index}] (${operation.op}): ${messageOf(error)}`);
    }
  }
  const count = operations.length - errors.length;
  return { plan: count > 0 ? withNextActive(plan) : before, applied: count, errors };
}

const appliers: Readonly<Record<Operation['op'], (plan: TodoPlan, operation: Operation) => readonly PhaseDraft[]>> = {
  replace: (_plan, { phases }) =>
    needed(phases, 'phases').map(({ name, tasks }) => ({ name, tasks: tasks?.map(newDraft) })),

  add_phase: (plan, { name, tasks }) => [...plan, { name: needed(name, 'name'), tasks: tasks?.map(newDraft) }],

  add_task: (plan, { phase: phaseName, content, ...more }) => {
    const target = needed(phaseName, 'phase');
    const phase = plan.find(({ id }) => id === target) ?? plan.find(({ name }) => name === target);
    if (!phase) throw new Error(`there is no phase ${target}`);
    const task = newDraft({ ...more, content: needed(content, 'content') });
    return plan.map((other) => (other === phase ? { ...phase, tasks: [...phase.tasks, task] } : other));
  },

  update: (plan, { id, content, status, notes, details }) => {
    const task = findTask(plan, id);
    const changed = {
      ...task,
      content: content ?? task.content,
      status: status ?? task.status,
      notes: notes ?? task.notes,
      details: details ?? task.details,
    };
    return plan.map((phase) => ({ ...phase, tasks: phase.tasks.map((other) => (other === task ? changed : other)) }));
  },

  remove_task: (plan, { id }) => {
    const task = findTask(plan, id);
    return plan.map((phase) => ({ ...phase, tasks: phase.tasks.filter((other) => other !== task) }));
  },
};

// The model cannot choose the id of a new task.
const newDraft = ({ content, status, notes, details }: TaskDraft): TaskDraft => ({ content, status, notes, details });

function findTask(plan: TodoPlan, taskId: string | undefined) {
  const id = needed(taskId, 'id');
  const task = tasksOf(plan).find((other) => other.id === id);
  if (!task) throw new Error(`there is no task ${id}`);
  return task;
}

function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`${name} is required`);
  return value;
}

import { keepHead } from '../../agent/tools/truncate.ts';
import { isOpen, type PlannedPhase, type PlannedTask, type TodoPlan, tasksOf } from './plan.ts';

/** Describes the open tasks of a plan for the model. */
export function describePlan(plan: TodoPlan): string {
  const tasks = tasksOf(plan);
  if (tasks.length === 0) return plan.length === 0 ? 'The plan is empty.' : 'The plan has no tasks.';
  const blocked = tasks.filter(({ status }) => status === 'blocked').length;
  const open = tasks.filter(isOpen).length;
  const counts = `${open} of ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'} to do`;
  const summary = blocked === 0 ? `${counts}.` : `${counts}, ${blocked} blocked.`;
  return [summary, listOpenTasks(plan)].filter(Boolean).join('\n');
}

/** The open and blocked tasks by phase; the task in progress with its notes and details. */
export function listOpenTasks(plan: TodoPlan): string {
  const { content, truncated } = keepHead(plan.flatMap(phaseLines).join('\n'));
  return truncated ? `${content}\n… and more` : content;
}

function phaseLines({ id, name, tasks }: PlannedPhase): string[] {
  const unfinished = tasks.filter((task) => isOpen(task) || task.status === 'blocked');
  return unfinished.length === 0 ? [] : [`${name} (${id})`, ...unfinished.flatMap(taskLines)];
}

function taskLines({ id, content, status, notes, details }: PlannedTask): string[] {
  const line = `- ${id}: ${content}`;
  if (status === 'blocked') return [`${line} [blocked]`];
  if (status !== 'in_progress') return [line];
  const more = [details && `  Details: ${details}`, notes && `  Notes: ${notes}`];
  return [`${line} [in progress]`, ...more.flatMap((text) => text ?? [])];
}

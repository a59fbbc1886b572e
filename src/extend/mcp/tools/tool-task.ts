import { setTimeout as wait } from 'node:timers/promises';
import { isObject } from '../../../protocol/json.ts';
import { MAX_WAIT_MS } from '../server-target.ts';

// Limits of the interval at which the state of a task is requested.
const MIN_TASK_POLL_MS = 100;
const MAX_TASK_POLL_MS = 10_000;
const DEFAULT_TASK_POLL_MS = 1000;

/** Requests of a connection, as far as a task needs them. */
export interface TaskRequests {
  readonly request: (method: string, params: object) => Promise<unknown>;
  readonly onStatus: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Runs a tool as a task of the server; returns the result of the tool. An abort or a failure cancels the task. */
export async function runToolTask(
  call: { readonly name: string; readonly arguments: object },
  { request, onStatus, signal }: TaskRequests,
): Promise<unknown> {
  const started = await request('tools/call', { ...call, task: { ttl: MAX_WAIT_MS } });
  let task = taskIn(isObject(started) ? started['task'] : undefined);
  // A server may still answer at once.
  if (!task) return started;
  const { taskId } = task;
  try {
    while (task?.status === 'working') {
      if (task.statusMessage !== undefined) onStatus(task.statusMessage);
      await wait(task.pollMs, undefined, { signal });
      task = taskIn(await request('tasks/get', { taskId }));
    }
    if (!task) throw new Error('the state of its task cannot be understood');
    if (task.status === 'cancelled') throw new Error('the server cancelled the task');
    // A task that needs input sends its requests while this one waits.
    return await request('tasks/result', { taskId });
  } catch (error) {
    void request('tasks/cancel', { taskId }).catch(() => {});
    throw error;
  }
}

function taskIn(value: unknown) {
  if (!isObject(value)) return undefined;
  const { taskId, status, statusMessage, pollInterval } = value;
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined;
  const pollMs = typeof pollInterval === 'number' ? pollInterval : DEFAULT_TASK_POLL_MS;
  return {
    taskId,
    status,
    statusMessage: typeof statusMessage === 'string' ? statusMessage.slice(0, 1000) : undefined,
    pollMs: Math.min(Math.max(pollMs, MIN_TASK_POLL_MS), MAX_TASK_POLL_MS),
  };
}

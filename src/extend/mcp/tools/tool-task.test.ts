import { expect, it } from 'vitest';
import { runToolTask } from './tool-task.ts';

const working = { taskId: 't', status: 'working', pollInterval: 1 };

it.each([
  ['its state cannot be read', 'tasks/get'],
  ['its result cannot be read', 'tasks/result'],
])('cancels a task if %s', async (_, failing) => {
  const methods: string[] = [];
  const request = async (method: string) => {
    methods.push(method);
    if (method === failing) throw new Error('did not respond');
    return method === 'tools/call' ? { task: working } : { ...working, status: 'completed' };
  };
  const { signal } = new AbortController();

  const run = runToolTask({ name: 'long', arguments: {} }, { request, signal, onStatus: () => {} });

  await expect(run).rejects.toThrow('did not respond');
  expect(methods.slice(-2)).toEqual([failing, 'tasks/cancel']);
});

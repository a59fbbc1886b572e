import { expect, it } from 'vitest';
import { NestedCalls } from './nested-calls.ts';

const caller = { type: 'toolCall' as const, id: 'c', name: 'outer', arguments: {} };

function newCalls(run: ConstructorParameters<typeof NestedCalls>[0]['run']) {
  const abort = new AbortController();
  return { abort, calls: new NestedCalls({ caller, tools: () => [], signal: abort.signal, run }) };
}

it('a call after the end of its caller is rejected, also when there was none before', async () => {
  let runs = 0;
  const { calls } = newCalls(async () => {
    runs++;
    return { content: [], isError: false };
  });

  await calls.end();

  await expect(calls.execute('late', {})).rejects.toThrow('The tool call has ended');
  expect(runs).toBe(0);
});

it('a call with a signal of its own also ends with the run', async () => {
  const { calls, abort } = newCalls(
    (_call, { signal }) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve({ content: [], isError: true }));
      }),
  );

  const outcome = calls.execute('slow', {}, { signal: new AbortController().signal });
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort();

  expect(await outcome).toMatchObject({ isError: true });
});

const cyclic: { self?: object } = {};
cyclic.self = cyclic;

it.each<[string, object]>([
  ['a cycle', cyclic],
  ['a BigInt', { count: 1n }],
])('arguments with %s fail the call and do not run the tool', async (_label, args) => {
  let runs = 0;
  const { calls } = newCalls(async () => {
    runs++;
    return { content: [], isError: false };
  });

  const outcome = await calls.execute('inner', args);

  expect(outcome).toMatchObject({ isError: true, toolCall: { arguments: {} } });
  expect(JSON.stringify(outcome.result.content)).toContain('The arguments are not JSON');
  expect(await calls.end()).toMatchObject({ nestedCalls: { calls: [{ name: 'inner', status: 'error' }] } });
  expect(runs).toBe(0);
});

import { expect, it } from 'vitest';
import type { SessionHooks } from '../session/hooks.ts';
import { HookSet } from './hook-set.ts';

const { signal } = new AbortController();

it('a payload passes through the hooks in order; undefined keeps it', async () => {
  const target: SessionHooks = { payload: async (body) => ({ ...(body as object), a: 1 }) };
  const set = new HookSet(target);

  set.put('extensions', { payload: async () => undefined });
  set.put('rules', { payload: async (body) => ({ seen: body }) });

  expect(await target.payload?.({ b: 2 }, signal)).toEqual({ seen: { b: 2, a: 1 } });
});

it('a failed compaction is reported to every owner', async () => {
  const calls: string[] = [];
  const target: SessionHooks = {};
  const set = new HookSet(target);

  for (const owner of ['todos', 'extensions'] as const) {
    set.put(owner, {
      compactFailed: async ({ reason }) => {
        calls.push(`${owner} ${reason}`);
      },
    });
  }
  await target.compactFailed?.({ reason: 'manual', aborted: true, willRetry: false, fromHook: false });

  expect(calls).toEqual(['extensions manual', 'todos manual']);
});

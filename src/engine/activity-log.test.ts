import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Log, LogFields } from '../system/log.ts';
import { ActivityLog } from './activity-log.ts';

function loggerWithLines() {
  const lines: [string, LogFields | undefined][] = [];
  const log: Log = {
    isEnabled: () => true,
    write: (...[, area, message, fields]) => lines.push([`${area} ${message}`, fields]),
  };
  return { lines, activityLog: new ActivityLog(log) };
}

it('only slow hooks are logged', async () => {
  const { lines, activityLog } = loggerWithLines();
  const hooks = activityLog.withTiming({
    input: () => wait(1100, 'handled' as const),
    expand: async () => undefined,
    observe: () => undefined,
  });
  const { signal } = new AbortController();
  const input = { text: '', images: [] };

  await hooks.input?.({ ...input, source: 'rpc', streamingBehavior: undefined }, signal);
  await hooks.expand?.(input, signal);

  expect(hooks.observe?.({ type: 'agent_start' }, signal)).toBeUndefined();
  expect(hooks.sessionStart).toBeUndefined();
  expect(lines).toEqual([['hook slow', { hook: 'input', ms: expect.any(Number) }]]);
});

it('timed hooks keep their `this` and their errors', async () => {
  const { activityLog } = loggerWithLines();
  class Own {
    #reason = 'mine';
    async sessionStart(): Promise<void> {
      throw new Error(this.#reason);
    }
  }

  const { sessionStart } = activityLog.withTiming(new Own());

  await expect(sessionStart?.({ reason: 'startup' })).rejects.toThrow('mine');
});

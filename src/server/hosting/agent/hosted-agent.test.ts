import { expect, it, onTestFinished, vi } from 'vitest';
import type { AgentResponse } from '../../agent-response.ts';
import { CrashCounter, HostedAgent } from './hosted-agent.ts';

it('three crashes within a minute are tolerated, a fourth is not', () => {
  const crashes = new CrashCounter();
  expect([0, 1000, 2000, 59_000].map((at) => crashes.add(at))).toEqual([false, false, false, true]);
});

it('older crashes do not count', () => {
  const crashes = new CrashCounter();
  expect([0, 30_000, 59_000, 61_000, 91_000].map((at) => crashes.add(at))).toEqual([false, false, false, false, false]);
});

/** The interval of pings. */
const PING_MS = 30_000;

/** A program that runs `onCommand` for each command that it receives. */
function startAgent(onCommand: string) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const program = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, type } = JSON.parse(line);
    const send = (record) => process.stdout.write(JSON.stringify(record) + '\\n');
    ${onCommand}
  });`;
  const launch = { command: process.execPath, args: ['-e', program, '--'], env: process.env };
  const events: string[] = [];
  let notify = () => {};
  let onExit = (_signal: string | undefined) => {};
  const exited = new Promise<string | undefined>((resolve) => {
    onExit = resolve;
  });
  const agent = new HostedAgent(
    launch,
    { target: { kind: 'new', id: 'x', cwd: process.cwd() }, access: 'write' },
    {
      enqueueResponse: (deliver) => deliver(),
      onEvent: ({ type }) => {
        events.push(type);
        notify();
      },
      onError: () => {},
      onActivity: () => {},
      onExit: ({ signal }) => onExit(signal ?? undefined),
    },
  );
  onTestFinished(async () => {
    vi.useRealTimers();
    await agent.end();
  });
  const eventCount = async (count: number) => {
    while (events.length < count)
      await new Promise<void>((resolve) => {
        notify = resolve;
      });
  };
  return { agent, eventCount, exited };
}

it('[W102] an agent that sends nothing is killed', async () => {
  const { exited } = startAgent('');

  vi.advanceTimersByTime(3 * PING_MS);

  expect(await exited).toBe('SIGKILL');
});

it('[W102] an agent that answers no ping but sends other records is not killed', async () => {
  const { agent, eventCount } = startAgent("send({ type: 'progress' });");

  for (let pings = 1; pings <= 10; pings++) {
    vi.advanceTimersByTime(PING_MS);
    await eventCount(pings);
  }

  agent.request({ type: 'get_state' }, { onResponse: () => {} });
  await eventCount(11);
});

it('[W102] an agent that works on a read may take longer', async () => {
  const { agent, exited } = startAgent(
    "if (type === 'get_state') send({ id, type: 'response', command: type, success: true });",
  );
  agent.request({ type: 'get_messages' }, { onResponse: () => {} });
  vi.advanceTimersByTime(15 * PING_MS);

  const state = await new Promise<AgentResponse>((onResponse) => agent.request({ type: 'get_state' }, { onResponse }));
  expect(state.success).toBe(true);
  vi.advanceTimersByTime(21 * PING_MS);

  expect(await exited).toBe('SIGKILL');
});

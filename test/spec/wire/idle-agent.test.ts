import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { startServer } from '../../support/server/test-server.ts';

/** Preloaded into the process: on SIGUSR2 it writes the number of its pending timers to a file. */
const counter = `
const { writeFileSync } = require('node:fs');
const pending = new Set();
for (const [set, clear, repeats] of [['setTimeout', 'clearTimeout', false], ['setInterval', 'clearInterval', true]]) {
  const [original, originalClear] = [globalThis[set], globalThis[clear]];
  globalThis[set] = (callback, ...rest) => {
    const timer = original((...args) => {
      if (!repeats) pending.delete(timer);
      callback(...args);
    }, ...rest);
    pending.add(timer);
    return timer;
  };
  globalThis[clear] = (timer) => {
    pending.delete(timer);
    originalClear(timer);
  };
}
process.on('SIGUSR2', () => writeFileSync(process.env.TIMER_COUNT, String(pending.size)));
`;

/** Prepares a home whose processes count their timers. */
function countingHome() {
  const home = newHome();
  const [preload, count] = [join(home.root, 'count.cjs'), join(home.root, 'count.txt')];
  writeFileSync(preload, counter);
  const timersOf = async (pid = 0) => {
    process.kill(pid, 'SIGUSR2');
    await waitUntil(async () => existsSync(count) && readFileSync(count, 'utf8') !== '');
    return Number(readFileSync(count, 'utf8'));
  };
  return { home, timersOf, env: { NODE_OPTIONS: `--require ${preload}`, TIMER_COUNT: count } };
}

it('[U31] an idle agent has the timer that checks its parent, and no other', async () => {
  const { home, timersOf, env } = countingHome();
  const agent = await openTestAgent('stdio', { home, env, script: [{ text: 'done' }] });
  await agent.peer.run('go');

  await expect.poll(() => timersOf(agent.process?.pid)).toBe(1);
});

it('[U31] an idle agent of a server has no timer', async () => {
  const { home, timersOf, env } = countingHome();
  const server = await startServer({ home, env, script: [{ text: 'done' }] });
  await (await server.attach()).run('go');

  await expect.poll(() => timersOf(server.agents()[0]?.pid)).toBe(0);
});

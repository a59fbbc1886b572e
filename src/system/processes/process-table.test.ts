import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { exitOf, processes, until } from '../testing/script.ts';
import { isSameProcess, listByPs, listProcesses } from './process-table.ts';

const start = processes();
// Prints the pid of a child that exits, and never reaps it.
const neverReaps = `
  fs.writeSync(1, String(child_process.spawn('true').pid));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;

it.runIf(process.platform === 'linux')('lists group, session, start and tag of a process', async () => {
  const child = start('sleep', ['1000'], { detached: true, env: { TAU_AGENT_MARK: 'mine:1' } });

  const row = (await listProcesses()).find(({ pid }) => pid === child.pid);

  expect(row).toEqual({
    pid: child.pid,
    parent: process.pid,
    group: child.pid,
    session: child.pid,
    startedAt: expect.stringMatching(/^\d+$/),
    tag: 'mine:1',
  });
});

it.each(Object.entries({ listProcesses, listByPs }))(
  '%s lists live processes without this one',
  async (_name, list) => {
    const parent = start(process.execPath, ['-e', neverReaps], { stdio: ['ignore', 'pipe', 'inherit'] });
    const dead = await new Promise<number>((resolve) => parent.stdout?.once('data', (chunk) => resolve(Number(chunk))));
    const pids = async () => (await list()).map(({ pid }) => pid);
    await until(() => zombies().includes(dead));

    expect(await pids()).toContain(parent.pid);
    expect(await pids()).not.toContain(dead);
    expect(await pids()).not.toContain(process.pid);
  },
);

it.runIf(process.platform === 'linux')('isSameProcess detects a reused pid', async () => {
  const child = start('sleep', ['1000']);
  const row = (await listProcesses()).find(({ pid }) => pid === child.pid);
  if (!row) throw new Error('The child is not listed');

  const before = isSameProcess(row);
  const laterProcess = isSameProcess({ ...row, startedAt: '1' });
  child.kill('SIGKILL');
  await exitOf(child);

  expect([before, laterProcess, isSameProcess(row)]).toEqual([true, false, false]);
});

const zombies = () =>
  execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'stat='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /\sZ/.test(line))
    .map((line) => Number.parseInt(line, 10));

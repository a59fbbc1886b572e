import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compile, exitOf, processes, readAll, temporaryFolder, until } from '../testing/script.ts';
import { type GroupProcess, killFamily, spawnGroup } from './process-group.ts';
import { processTag } from './process-tag.ts';

const linux = process.platform === 'linux';
const folder = temporaryFolder();
const start = processes();
let tests = 0;

const family = 'test';

afterEach(() => killFamily(family));

/** A duration that identifies one sleep in the process list. */
const newSleep = () => `1000.${process.pid}${String(++tests).padStart(3, '0')}`;
const outputOf = (sleep: string) => join(folder, `output-${sleep}`);
const printed = (sleep: string) => readFileSync(outputOf(sleep), 'utf8');

function shell(sleep: string, script: string): GroupProcess {
  const output = openSync(outputOf(sleep), 'a');
  try {
    return spawnGroup({ command: 'bash', args: ['-c', script], cwd: folder, env: process.env, output, family });
  } finally {
    closeSync(output);
  }
}

/** The arguments of the live processes with this sleep. A zombie has none. */
const alive = (sleep: string) =>
  execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(sleep));

const sleepers = (sleep: string) => alive(sleep).filter((line) => line === `sleep ${sleep}`);

describe('exited', () => {
  it('settles when the process exits, though a child of it holds the output', async () => {
    const sleep = newSleep();

    const group = shell(sleep, `sleep ${sleep} & echo out; echo err >&2; exit 3`);

    expect(await group.exited).toEqual({ code: 3, signal: null });
    expect(printed(sleep)).toBe('out\nerr\n');
    await until(() => sleepers(sleep).length === 1);
  });

  it('reports the signal', async () => {
    expect(await shell(newSleep(), 'kill -TERM $$').exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('runs with stdin at its end', async () => {
    expect(await shell(newSleep(), 'cat').exited).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['a missing program', 'no-such-program', 'ENOENT'],
    ['an invalid name', 'bad\0name', 'ERR_INVALID_ARG_VALUE'],
  ])('reports %s instead of rejecting', async (_what, command, code) => {
    const group = spawnGroup({ command, args: [], cwd: folder, env: {}, output: 2, family });

    expect(await group.exited).toMatchObject({ code: null, signal: null, error: { code } });
    expect(group.pid).toBeUndefined();
    await group.kill();
  });
});

describe('kill', () => {
  const up = (sleep: string) => `bash -c 'echo up; exec sleep ${sleep}'`;
  const storm = (sleep: string) => `echo up; while :; do sleep 0.001 & : ${sleep}; wait; done`;
  const runs: Record<string, (sleep: string) => string> = {
    'a plain child': (sleep) => `${up(sleep)}; true`,
    'background children': (sleep) => `sleep ${sleep} & ${up(sleep)} & wait`,
    'one that ignores SIGTERM': (sleep) => `trap '' TERM INT HUP; while :; do ${up(sleep)}; done`,
    'a fork storm': (sleep) => `for i in 1 2 3 4 5 6; do (${storm(sleep)}) & done; wait`,
    'children of a shell that has exited': (sleep) => `sleep ${sleep} & ${up(sleep)} &`,
    'one without an environment whose shell has exited': (sleep) => `env -i ${up(sleep)} &`,
  };
  const escapes: Record<string, (sleep: string) => string> = {
    setsid: (sleep) => `setsid ${up(sleep)} & wait`,
    'setsid from a shell that has exited': (sleep) => `setsid ${up(sleep)} &`,
    'a double fork': (sleep) => `(setsid bash -c "sleep ${sleep} & ${up(sleep)} &" &); sleep ${sleep}`,
    'a fork storm after setsid': (sleep) => `for i in 1 2 3; do setsid bash -c '${storm(sleep)}' & done; wait`,
    'a group of its own without an environment': (sleep) => `set -m; env -i ${up(sleep)} & wait`,
  };

  it.each(Object.entries({ ...runs, ...(linux && escapes) }))('ends every process of: %s', async (_name, script) => {
    const sleep = newSleep();
    const group = shell(sleep, script(sleep));
    await until(() => printed(sleep).startsWith('up\n'));

    await group.kill();

    expect(alive(sleep)).toEqual([]);
    await group.exited;
  });

  it.runIf(linux)('ends the children of an agent inside, which have tags of their own', async () => {
    const [sleep, inner] = [newSleep(), newSleep()];
    const script = compile(
      folder,
      `import { spawnGroup } from './processes/process-group.ts';
       spawnGroup({ command: 'bash', args: ['-c', 'setsid sleep ${inner} & sleep ${inner}'], cwd: '/', env: process.env, output: 2, family: 'test' });`,
    );
    const group = shell(sleep, `"${process.execPath}" "${script}"`);
    await until(() => sleepers(inner).length === 2);

    await group.kill();

    expect(alive(inner)).toEqual([]);
  });

  it('ends no process of another group', async () => {
    const [doomed, spared] = [newSleep(), newSleep()];
    const wrapper = linux ? 'setsid' : 'env';
    const group = shell(doomed, `${wrapper} sleep ${doomed} & wait`);
    shell(spared, `${wrapper} sleep ${spared} & wait`);
    await until(() => sleepers(doomed).length === 1 && sleepers(spared).length === 1);

    await group.kill();

    expect([alive(doomed).length, sleepers(spared).length]).toEqual([0, 1]);
  });

  it.runIf(linux)('ends the first spawn and not the tenth, whose tag has the same prefix', async () => {
    const [first, tenth] = [newSleep(), newSleep()];
    const script = compile(
      folder,
      `import { killFamily, spawnGroup } from './processes/process-group.ts';
       const run = (...args) => spawnGroup({ command: 'setsid', args, cwd: '/', env: process.env, output: 2, family: 'test' });
       const first = run('sleep', '${first}');
       for (let second = 2; second < 10; second++) await run('true').exited;
       run('sleep', '${tenth}');
       process.stdin.once('data', async () => {
         await first.kill();
         console.log('killed');
         process.stdin.once('data', () => killFamily('test')).once('data', () => process.stdin.destroy());
       });`,
    );
    const agent = start(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = exitOf(agent);
    await until(() => sleepers(first).length === 1 && sleepers(tenth).length === 1);

    agent.stdin?.write('go');
    await new Promise((resolve) => agent.stdout?.once('data', resolve));
    const left = [alive(first).length, sleepers(tenth).length];
    agent.stdin?.write('end');

    expect(await exited).toBe(0);
    expect([left, alive(tenth)]).toEqual([[0, 1], []]);
  });

  it('succeeds twice, and after the exit', async () => {
    const sleep = newSleep();
    const group = shell(sleep, `sleep ${sleep}`);

    await Promise.all([group.kill(), group.kill()]);
    await group.kill();

    expect(await group.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it.runIf(linux && process.getuid?.() === 0)('ends no process that got the same pid later', async ({ skip }) => {
    const group = shell(newSleep(), 'exit');
    await group.exited;
    const unrelated = await spawnWithPid(group.pid ?? 0);
    if (!unrelated) return skip('Another process got the pid');

    await group.kill();
    await killFamily('test');

    expect(process.kill(unrelated.pid ?? 0, 0)).toBe(true);
    expect([unrelated.exitCode, unrelated.signalCode]).toEqual([null, null]);
    unrelated.kill('SIGKILL');
    await exitOf(unrelated);
  });

  /** Other processes take pids too, so it may need a few attempts. */
  async function spawnWithPid(pid: number): Promise<ChildProcess | undefined> {
    for (let attempt = 0; attempt < 100; attempt++) {
      writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
      const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
      if (child.pid === pid) return child;
      child.kill('SIGKILL');
      await exitOf(child);
    }
    return undefined;
  }
});

describe('the guardian', () => {
  it('is restarted after a kill, and the new one gets the groups of the first', async () => {
    const sleep = newSleep();
    const script = compile(
      folder,
      `import { spawnGroup } from './processes/process-group.ts';
       const run = (command) => spawnGroup({ command: 'bash', args: ['-c', command], cwd: '/', env: process.env, output: 2, family: 'test' });
       run('sleep ${sleep}');
       process.stdin.on('data', () => run('sleep ${sleep}'));
       console.log('up');`,
    );
    const agent = start(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    const guardians = () =>
      execFileSync('ps', ['-A', '-ww', '-o', 'pid=', '-o', 'args='], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.includes('tau-guardian') && line.includes(`${agent.pid?.toString(36)}-`))
        .map((line) => Number.parseInt(line, 10));
    await until(() => sleepers(sleep).length === 1 && guardians().length === 1);
    const [first = 0] = guardians();
    process.kill(first, 'SIGKILL');
    await until(() => guardians().some((pid) => pid !== first));
    agent.stdin?.write('again');
    await until(() => sleepers(sleep).length === 2 && guardians().length === 1);

    agent.kill('SIGKILL');

    await until(() => alive(sleep).length === 0);
    expect(sleepers(sleep)).toEqual([]);
  });
});

describe('killFamily', () => {
  it('kills running commands and the descendants of finished ones', async () => {
    const sleep = newSleep();
    shell(sleep, `sleep ${sleep}`);
    await shell(sleep, `sleep ${sleep} &`).exited;
    if (linux) await shell(sleep, `setsid sleep ${sleep} &`).exited;
    await until(() => sleepers(sleep).length === (linux ? 3 : 2));

    await killFamily('test');

    expect(alive(sleep)).toEqual([]);
  });

  it('does nothing in a process without children', async () => {
    const script = compile(
      folder,
      `import { killFamily } from './processes/process-group.ts';
       await killFamily('test');
       console.log('done');`,
    );

    expect(await readAll(start(process.execPath, [script]).stdout)).toBe('done\n');
  });
});

it('every spawn has its own tag, which begins with the tag of the agent', async () => {
  const sleeps = [newSleep(), newSleep()];
  for (const sleep of sleeps) await shell(sleep, 'echo "$TAU_AGENT_MARK"').exited;

  const [first = '', second = ''] = sleeps.map((sleep) => printed(sleep).trim());

  expect(first).not.toBe(second);
  for (const tag of [first, second]) expect(tag).toMatch(new RegExp(`^${processTag()}:test:\\d+$`));
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeConfined } from '../../../test/support/sandbox/working-sandbox.ts';
import { type ConfinedSession, confinedSessions, scratchFolder } from '../testing/confined.ts';
import { compile, processes, until } from '../testing/script.ts';
import { findPrograms } from './programs.ts';

const base = scratchFolder();
const open = confinedSessions(base);
const start = processes();
const sources = join(base, 'sources');
let tests = 0;

/** A duration that identifies one sleep in the process list. */
const newSleep = () => `1000.${process.pid}${String(++tests).padStart(3, '0')}`;

const sleepers = (sleep: string) =>
  execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line === `sleep ${sleep}`).length;

const untilCount = (sleep: string, count: number) => until(() => sleepers(sleep) === count);

describeConfined('the processes of a session', () => {
  it('outlive their command: a server of one answers the next, is seen and can be stopped', async () => {
    const { run } = await open();
    const server = `require('net').createServer((s) => s.on('error', () => 0).end('served')).listen(8123, '127.0.0.1')`;
    const client = `require('net').connect(8123, '127.0.0.1').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`;
    const node = `"${process.execPath}"`;

    await run(`${node} -e "${server}" & until (exec 3<>/dev/tcp/127.0.0.1/8123) 2>/dev/null; do sleep 0.05; done`);

    expect((await run(`${node} -e "${client}"`)).output).toBe('served');
    expect((await run('pkill -f "[c]reateServer"; echo $?')).output).toBe('0');
    expect((await run(`while pgrep -f "[c]reateServer"; do sleep 0.05; done; ${node} -e "${client}"`)).output).toMatch(
      /ECONNREFUSED$/,
    );
  });

  it('see none of the host, and do not reach its loopback', async () => {
    const { run } = await open();
    const { output } = await run(
      `ls -d /proc/[0-9]* | wc -l; ls /proc/${process.pid}/cwd; cat /proc/net/tcp | wc -l; ls /sys/class/net 2>/dev/null | head -0; cat /proc/net/dev | tail -n +3 | cut -d: -f1`,
    );

    const [count, , , ...interfaces] = output.split('\n');
    expect(Number(count)).toBeLessThan(12);
    expect(interfaces.map((name) => name.trim())).toEqual(['lo']);
  });

  it.each([
    [
      'the root of the first process',
      'ls /proc/1/root/; cat /proc/1/environ /proc/1/fd/0 /proc/2/fd/0; ls /proc/2/root/ /proc/2/cwd/',
    ],
    [
      'a write through the first process',
      'echo x > /proc/1/root/var/tmp/tau-escaped; echo x > /proc/2/cwd/var/tmp/tau-escaped',
    ],
    ['nsenter', 'nsenter -t 1 -m -U true; nsenter -t 2 -m true; nsenter -t 1 -U --preserve-credentials true'],
    ['the memory of the first process', 'head -c 1 /proc/1/mem; head -c1 /proc/2/mem; cat /proc/2/maps'],
  ])('do not get out by %s', async (_what, attack) => {
    const { run } = await open();

    const { output } = await run(`{ ${attack}; } 2>&1; id -u > /dev/null; echo end`);

    expect(output.split('\n').filter((line) => !/denied|not permitted|^end$|: No such process/i.test(line))).toEqual(
      [],
    );
    expect(existsSync('/var/tmp/tau-escaped')).toBe(false);
  });

  it('do not trace those of another command', async () => {
    const { run, start: launch } = await open();
    const other = await launch('echo up; sleep 1000');
    await until(() => other.printed().includes('up'));

    const { output } = await run(
      'for p in $(pgrep -x sleep); do cat /proc/$p/environ; readlink /proc/$p/root /proc/$p/cwd; head -c 1 /proc/$p/mem; done; echo end',
    );

    expect(output).not.toContain('TAU_');
    expect(output.match(/denied/g)?.length).toBeGreaterThan(0);
    await other.group.kill();
  });

  it.runIf(process.getuid?.() === 0)('of root change no setting of the kernel and no device', async () => {
    const { run } = await open();
    const setting = '/proc/sys/kernel/core_pattern';

    const { output } = await run(
      `cat ${setting} > /tmp/same; cat /tmp/same > ${setting}; echo x > /proc/sys/vm/drop_caches; chmod 666 /dev/null; chmod 666 /proc/self/fd/0; mount -o remount,rw /proc; unshare -Umpf sh -c 'mount -t proc p /mnt'; echo x > /dev/null && echo done`,
    );

    expect(output.match(/Read-only file system/g)).toHaveLength(4);
    expect(output).toMatch(/\ndone$/);
  });

  it('get a new cell when a command has killed the first', async () => {
    const { run } = await open();

    await run('kill -9 -1');

    expect((await run('echo again')).output).toBe('again');
  });

  it('inherit no descriptor of tau or of the sandbox', async () => {
    const { run } = await open();

    expect((await run('ls /proc/self/fd; ls -l /proc/self/fd | grep -c sandbox')).output.split('\n')).toEqual([
      '0',
      '1',
      '2',
      '3',
      '0',
    ]);
  });
});

const ESCAPEES = (sleep: string) =>
  `env -i setsid sleep ${sleep} & (env -i setsid sleep ${sleep} &) ; env -i setsid bash -c "env -i setsid sleep ${sleep} & sleep 0.1" & echo up; exec sleep ${sleep}`;

describeConfined('kill', () => {
  it('ends escapees that cleared their environment, and spares servers of earlier commands', async () => {
    const session = await open();
    const [server, bare, doomed] = [newSleep(), newSleep(), newSleep()];
    await session.run(`sleep ${server} & env -i setsid sleep ${bare} & true`);
    await untilCount(server, 1);
    await untilCount(bare, 1);
    const command = await session.start(ESCAPEES(doomed));
    await untilCount(doomed, 4);

    await command.group.kill();

    expect([sleepers(doomed), sleepers(server), sleepers(bare)]).toEqual([0, 1, 1]);
    await session.sandbox.close();
    expect([sleepers(server), sleepers(bare)]).toEqual([0, 0]);
  });

  it('spares a command that runs at the same time, and its children without an environment', async () => {
    const session = await open();
    const [spared, doomed] = [newSleep(), newSleep()];
    const other = await session.start(`env -i sleep ${spared} & sleep ${spared}`);
    await untilCount(spared, 2);
    const command = await session.start(ESCAPEES(doomed));
    const later = await session.start(`env -i sleep ${spared} & sleep ${spared}`);
    await untilCount(doomed, 4);
    await untilCount(spared, 4);

    await command.group.kill();

    expect([sleepers(doomed), sleepers(spared)]).toEqual([0, 4]);
    await Promise.all([other.group.kill(), later.group.kill()]);
    expect(sleepers(spared)).toBe(0);
  });

  it('spares what an older process without an environment starts meanwhile', async () => {
    const session = await open();
    const [worker, doomed] = [newSleep(), newSleep()];
    await session.run(
      `env -i setsid bash -c 'until test -e go; do sleep 0.02; done; sleep ${worker} & sleep ${worker}; :' & true`,
    );
    const command = await session.start(`touch go; ${ESCAPEES(doomed)}`);
    await untilCount(doomed, 4);
    await untilCount(worker, 2);

    await command.group.kill();

    expect([sleepers(doomed), sleepers(worker)]).toEqual([0, 2]);
  });

  it('ends processes in a PID namespace of their own', async () => {
    const session = await open();
    const doomed = newSleep();
    const command = await session.start(
      `env -i setsid unshare -Upf sh -c "sleep ${doomed} & sleep ${doomed}" & sleep 1000`,
    );
    await untilCount(doomed, 2);

    await command.group.kill();

    expect(sleepers(doomed)).toBe(0);
  });
});

/** An agent that opens a sandbox and runs a command until its stdin ends. */
const agent = (session: { home: string; cwd: string }, command: string) => {
  mkdirSync(sources, { recursive: true });
  return compile(
    sources,
    `import { createSandbox } from './sandbox/create-sandbox.ts';
     import { spawnGroup } from './processes/process-group.ts';
     const [home, cwd] = ${JSON.stringify([session.home, session.cwd])};
     const options = { cwd, home, writable: [cwd], hidden: [], readOnly: false, network: 'none', mayConnect: async () => false, env: [], unixSockets: false, gitWrite: false };
     const sandbox = await createSandbox(options);
     const launch = await sandbox.confine({ command: '/bin/bash', args: ['-c', ${JSON.stringify(command)}], cwd, env: process.env });
     spawnGroup({ ...launch, output: 1, family: 'test' });
     console.log('tmp', sandbox.tmp);
     process.stdin.resume();`,
  );
};

describeConfined('SIGKILL of tau', () => {
  it('ends every process inside and removes what the sandbox made', async () => {
    const session: ConfinedSession = await open();
    await session.sandbox.close();
    const doomed = newSleep();
    const child = start(process.execPath, [agent(session, ESCAPEES(doomed))], { stdio: ['pipe', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout?.on('data', (text) => {
      printed += text;
    });
    await until(() => /tmp .*\n/.test(printed));
    await untilCount(doomed, 4);
    const tmp = /tmp (.*)\n/.exec(printed)?.[1] ?? '';
    expect([existsSync(tmp), readdirSync(session.cwd)]).toEqual([true, ['.pi']]);

    child.kill('SIGKILL');

    await untilCount(doomed, 0);
    await until(() => !existsSync(join(tmp, '..')) && readdirSync(session.cwd).length === 0);
  });
});

describeConfined('without nsenter', () => {
  const programs = { ...findPrograms([]), nsenter: undefined };

  it('each command has namespaces of its own, which end with it', async () => {
    const { run, start: launch } = await open({ programs });
    const [background, doomed] = [newSleep(), newSleep()];

    expect((await run(`env -i setsid sleep ${background} & echo x > ~/f; echo y > f; cat f; exit 3`)).code).toBe(3);
    await untilCount(background, 0);
    const command = await launch(ESCAPEES(doomed));
    await untilCount(doomed, 4);
    await command.group.kill();

    await untilCount(doomed, 0);
  });
});

describeConfined('1000 commands', () => {
  it('leave the processes, descriptors and mounts of the host as they were', { timeout: 120_000 }, async () => {
    const { run } = await open();
    await run('true');
    const count = () => ({
      descriptors: readdirSync('/proc/self/fd').filter((fd) => isOpen(fd)).length,
      mounts: readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length,
      processes: execFileSync('ps', ['-A', '-o', 'stat=,args='], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => /bwrap|nsenter|Z/.test(line.slice(0, 40))).length,
    });
    const before = count();

    for (let round = 0; round < 250; round++) await Promise.all([run('true'), run('true'), run('true'), run('true')]);

    await until(() => count().processes <= before.processes);
    expect(count()).toMatchObject({ descriptors: before.descriptors, mounts: before.mounts });
  });
});

function isOpen(fd: string): boolean {
  try {
    readlinkSync(`/proc/self/fd/${fd}`);
    return true;
  } catch {
    return false;
  }
}

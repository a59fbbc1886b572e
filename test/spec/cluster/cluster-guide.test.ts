import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { flags } from '../../../src/cli/flags/flags.ts';
import { newHome, TAU } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { natsProgram } from '../../support/cluster/nats-server.ts';
import { operatorsGuide, shellBlocksUnder } from '../../support/cluster/operators-guide.ts';
import { startProgram } from '../../support/processes/program.ts';
import { TargetClient } from '../../support/server/attack-target.ts';

const source = join(import.meta.dirname, '../../../src');

// NATS servers that are new to each other sometimes find no peers for a stream, and never do: then others are started.
const STARTS = { timeout: 180_000, retry: { count: 2, condition: /Too few NATS servers/ } };

it(
  '[W143 W145] the trial of the guide survives the death of a node and a NATS server in the middle of a run',
  STARTS,
  async () => {
    const home = newHome();
    const nats = await freePrefix();
    const routes = await freePrefix(nats);
    const nodes = await freePrefix(nats, routes);
    const monitors = await freePrefix(nats, routes, nodes);
    const path = `${home.root}:${dirname(natsProgram())}:${process.env['PATH']}`;
    const shell = startProgram(home, ['bash', '-eu'], { env: { PATH: path } });
    // The input ends with the process of the test, also if that is killed: then the servers end as well.
    shell.send('trap "kill -KILL 0" EXIT\n');
    shell.send(`ln -s ${TAU} ${join(home.root, 'tau')}\n`);
    const blocks = shellBlocksUnder('Try it on one machine').map((block) =>
      block
        .replaceAll(/\b422(?=\$|\d)/g, nats)
        .replaceAll(/\b622(?=\$|\d)/g, routes)
        .replaceAll(/\b822(?=\$|\d)/g, monitors)
        .replaceAll(/\b417(?=\$|\d)/g, nodes),
    );
    const logOf = (program: string) =>
      readFileSync(join(home.cwd, `tau-trial/${program}.log`), { encoding: 'utf8', flag: 'a+' });
    // The servers keep the output of the shell open.
    const failed = new Promise<never>((_, reject) => {
      shell.child.once('exit', () => {
        const natsLogs = [1, 2, 3].map((n) => logOf(`nats-${n}`).slice(-2000)).join('\n');
        reject(new Error(`A command of the guide failed: ${shell.stderr()}\n${natsLogs}`));
      });
    });
    failed.catch(() => {});
    const runBlock = async (index: number) => {
      shell.send(`{ ${blocks[index]}\n} </dev/null; echo "block ${index} is done"\n`);
      await Promise.race([failed, shell.waitForOutput(`block ${index} is done`)]);
    };
    expect(blocks).toHaveLength(6);

    for (const index of [0, 1, 2]) await runBlock(index);
    shell.send('echo "token=$PI_AUTH_TOKEN;"\n');
    await shell.waitForOutput(';');
    const [, token = ''] = /token=(\w+);/.exec(shell.stdout()) ?? [];
    for (const n of [1, 2, 3]) await expect.poll(() => logOf(`node-${n}`), { timeout: 40_000 }).toContain('ws://');
    const connect = (n: number, session = '') =>
      TargetClient.connect(`ws://127.0.0.1:${nodes}${n}/session?token=${token}${session && `&session=${session}`}`, {});

    const first = await connect(1);
    await first.run('say hello');
    const { sessionId } = await first.location();
    const second = await connect(2, sessionId);
    await second.ok({ type: 'prompt', message: 'count to 1000' });
    await second.find('message_update');
    await runBlock(3);

    expect(await second.ended).toMatchObject({ code: 1012 });
    let third: TargetClient | undefined;
    const messages = async () => {
      third = await connect(3, sessionId);
      return JSON.stringify((await third.next('state_synced')).messages);
    };
    // The NATS servers elect a leader meanwhile.
    await expect.poll(() => messages().catch(() => ''), { timeout: 60_000 }).toMatch(/say hello.*hello.*count to 1000/);
    await third?.run('say hello again');
    await auditLogs([`nats://127.0.0.1:${nats}2`, `nats://127.0.0.1:${nats}3`]);
    await runBlock(4);
    await expect.poll(() => logOf('node-1').split('ws://').length, { timeout: 60_000 }).toBeGreaterThan(2);
    await runBlock(5);
    shell.send('trap - EXIT\n');
    shell.child.stdin?.end();
    expect(await shell.finished).toMatchObject({ code: 0 });
  },
);

/** The first digits of three free ports that end in 1, 2 and 3, other than these digits. */
async function freePrefix(...taken: readonly string[]): Promise<string> {
  for (;;) {
    // Below the ports that the system gives to clients.
    const prefix = String(1100 + Math.floor(Math.random() * 2000));
    if (taken.includes(prefix)) continue;
    const isFree = await Promise.all([1, 2, 3].map((digit) => isFreePort(Number(`${prefix}${digit}`))));
    if (isFree.every(Boolean)) return prefix;
  }
}

function isFreePort(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

it('the guide uses only commands, flags and files that exist', () => {
  const used = [...operatorsGuide.matchAll(/(?<=[\s`(])--([a-z][a-z-]+)/g)].map(([, name]) => String(name));
  const called = [...operatorsGuide.matchAll(/\btau (cluster|serve|token|attach)\b/g)].map(([, name]) => String(name));
  const linked = [...operatorsGuide.matchAll(/\]\((?!http|#)([^)#]+)/g)].map(([, path]) => String(path));

  expect(used.length).toBeGreaterThan(20);
  for (const name of used) expect(Object.keys(flags)).toContain(name);
  for (const name of called) expect(Object.keys(commands)).toContain(name);
  for (const path of linked) expect(() => readdirOrFile(join(source, '../docs', path)), path).not.toThrow();
});

const readdirOrFile = (path: string) => (path.endsWith('deploy') ? readdirSync(path) : readFileSync(path));

it('every message of the troubleshooting table is one of the program', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const code = files.map((name) => readFileSync(join(source, name), 'utf8')).join('\n');
  const [, table = ''] = operatorsGuide.split('\n## Troubleshooting\n');
  const rows = table.split('\n').filter((line) => line.startsWith('| `') || line.startsWith('| …'));
  const messages = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => String(text)),
  );

  expect(messages.length).toBeGreaterThan(15);
  // Values take the place of each ellipsis.
  for (const message of messages)
    expect(code, message).toMatch(new RegExp(message.split('…').map(escaped).join('\\$\\{[^`]*\\}')));
});

const escaped = (text: string) => text.replaceAll(/[.*+?^$()[\]{}|\\]/g, '\\$&');

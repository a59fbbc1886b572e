import { cpSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { scriptArgs, TAU } from '../../support/agent/test-agent.ts';
import {
  answersOf,
  bash,
  CONFINED,
  type ConfinedAgent,
  openConfined,
  resultOf,
} from '../../support/sandbox/confined-agent.ts';
import { newSleep, sleepers } from '../../support/sandbox/sleepers.ts';
import { newUserHome, writeFile } from '../../support/sandbox/user-home.ts';
import { itConfined } from '../../support/sandbox/working-sandbox.ts';

const PORT = 8123;
const START_SERVER = `python3 -m http.server ${PORT} --bind 127.0.0.1 > /tmp/log 2>&1 &
until curl -s -o /dev/null localhost:${PORT}; do sleep 0.05; done`;
const STATUS = `curl -s -o /dev/null -w '%{http_code}' http://localhost:${PORT}/`;

itConfined('[A147] a server of one command is reached, seen and stopped by later ones', async () => {
  const { run } = await openConfined({
    runs: [
      [
        bash(START_SERVER),
        bash(STATUS),
        bash(`pgrep -fc 'http.serve[r]'`),
        bash(`pkill -f 'http.serve[r]'; while pgrep -f 'http.serve[r]' > /tmp/left; do sleep 0.05; done`),
        bash(STATUS),
      ],
    ],
  });

  const [, reached, seen, , gone] = await run();

  expect(reached).toEqual({ isError: false, text: '200' });
  expect(seen?.text).toBe('1\n');
  expect(gone).toMatchObject({ isError: true, text: expect.stringMatching(/^000/) });
});

const leaving: [string, (agent: ConfinedAgent) => Promise<unknown>][] = [
  ['tau ends', (agent) => agent.close()],
  ['the session is left for a new one', (agent) => agent.peer.ok({ type: 'new_session' })],
];

itConfined.each(leaving)('[A147] a background process ends when %s', async (_when, leave) => {
  const sleep = newSleep();
  const agent = await openConfined({ runs: [[bash(`env -i setsid sleep ${sleep} & true`), bash('true')]] });
  await agent.run();
  const before = sleepers(sleep);

  await leave(agent);

  expect(before).toBe(1);
  await expect.poll(() => sleepers(sleep)).toBe(0);
});

/** A command with three descendants: one in a session of its own, one without a parent, both with no environment. */
const escapees = (sleep: string) =>
  `env -i setsid sleep ${sleep} & (env -i setsid sleep ${sleep} &); env -i setsid bash -c 'env -i setsid sleep ${sleep} & true' & sleep ${sleep}`;

itConfined('[A149] an abort leaves no process that left its group and cleared its environment', async () => {
  const sleep = newSleep();
  const { peer, start } = await openConfined({ runs: [[bash(escapees(sleep))]] });
  await start();
  await expect.poll(() => sleepers(sleep)).toBe(4);

  await peer.ok({ type: 'abort' });

  expect(sleepers(sleep)).toBe(0);
});

itConfined('[A149] an abort spares the background process of an earlier command', async () => {
  const [server, doomed] = [newSleep(), newSleep()];
  const { peer, run, start } = await openConfined({
    runs: [[bash(`env -i setsid sleep ${server} & true`)], [bash(escapees(doomed))]],
  });
  await run();
  await start();
  await expect.poll(() => sleepers(doomed)).toBe(4);

  await peer.ok({ type: 'abort' });

  expect([sleepers(doomed), sleepers(server)]).toEqual([0, 1]);
});

itConfined('[A149] SIGKILL of tau leaves no process either', async () => {
  const sleep = newSleep();
  const { process: agent, start } = await openConfined({ runs: [[bash(escapees(sleep))]] });
  await start();
  await expect.poll(() => sleepers(sleep)).toBe(4);

  agent?.kill('SIGKILL');

  await expect.poll(() => sleepers(sleep)).toBe(0);
});

itConfined('[A149] a command that kills all processes it can see ends neither tau nor the session', async () => {
  const { run } = await openConfined({ runs: [[bash('kill -9 -1; true'), bash('echo again')]] });

  const [, again] = await run();

  expect(again).toEqual({ isError: false, text: 'again\n' });
});

itConfined('[A153] a tau inside a confined command confines its own, or reports that it cannot', async () => {
  const home = newUserHome();
  const namespaces = 'readlink /proc/self/ns/user > outer-namespace';
  // The agent folder of the user is hidden from the inner tau.
  const inner = { ...home, root: home.cwd };
  writeFile(`${home.cwd}/keep`, '');
  const script = scriptArgs(
    inner,
    answersOf([bash('readlink /proc/self/ns/user > inner-namespace; echo x > ~/.escaped; echo x > /tmp/inner')]),
  );
  // The /tmp of the machine is not visible inside.
  if (TAU.startsWith('/tmp/')) cpSync(dirname(TAU), join(home.cwd, 'tau'), { recursive: true });
  const program = TAU.startsWith('/tmp/') ? join(home.cwd, 'tau', basename(TAU)) : TAU;
  const tau = `PI_CODING_AGENT_DIR=/tmp/agent '${process.execPath}' '${program}' -p --no-session ${CONFINED.join(' ')} ${script.join(' ')} go`;
  const command = `${namespaces}; ${tau} > output 2>&1; echo "exit $?"; cat outer-namespace; cat inner-namespace; cat output; ls /tmp/inner`;

  const { text } = await resultOf(bash(`{ ${command}; } 2>&1; exit 0`), { home });

  const [exit, outerNamespace, innerNamespace] = text.split('\n');
  if (exit === 'exit 0') {
    expect(innerNamespace).toMatch(/^user:/);
    expect(innerNamespace).not.toBe(outerNamespace);
  } else {
    expect(exit).toBe('exit 1');
    expect(text).toContain('No sandbox works');
    expect(innerNamespace).not.toMatch(/^user:/);
  }
  expect(text).not.toMatch(/^\/tmp\/inner$/m);
});

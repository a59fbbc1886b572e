import { afterEach, expect, it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { runTau } from '../../support/processes/program.ts';
import { CTRL_D, ENTER, startTauInTerminal } from '../../support/processes/terminal.ts';
import { TARGET_TOKEN } from '../../support/server/attack-target.ts';

const cluster = testCluster();

const script = [
  { steps: [{ text: 'Half of ' }, { stall: true }], when: '^tell', keep: true },
  { text: 'good morning', when: '.', keep: true },
];

const env = { PI_AUTH_TOKEN: TARGET_TOKEN };

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W164 W165] tau attach continues on the next node when its node dies during an answer', async () => {
  const { cwd } = newHome();
  const start = (name: string) => startNode(cluster.server.url, name, { cwd, script, args: ONE_REPLICA });
  const [a, b] = await Promise.all([start('a'), start('b')]);
  const addresses = `ws://127.0.0.1:${a.port},ws://127.0.0.1:${b.port}`;
  const chat = startTauInTerminal(newHome(), ['attach', addresses, 'new'], { env });
  await chat.waitForScreen('? prints help.\n›');
  chat.type(`say good morning${ENTER}`);
  await chat.waitForScreen('\ngood morning\n›');
  chat.type(`tell me a story${ENTER}`);
  await chat.waitForScreen('\nHalf of\n›');

  process.kill(a.pid, 'SIGKILL');
  await chat.waitForScreen('\nReconnecting… (');
  chat.type(`say it again${ENTER}`);
  await chat.waitForScreen('\nConnected again.\n');
  await chat.waitForScreen('\n(failed: The agent ended before the run was over)\n');
  await expect.poll(() => chat.screen().match(/^good morning$/gm)).toHaveLength(2);
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
  const prompts = chat.screen().match(/^› \S.*$/gm);
  expect(prompts).toEqual(['› say good morning', '› tell me a story', '› say it again']);
  for (const once of ['Half of', 'Reconnecting…', 'Connected again.', '(failed:'])
    expect(chat.screen().split(once)).toHaveLength(2);
});

it('[W164] tau attach uses the address that responds, and names all of them when none does', async () => {
  const { cwd } = newHome();
  const a = await startNode(cluster.server.url, 'c', { cwd, script, args: ONE_REPLICA });
  const attach = (urls: string) =>
    runTau(newHome(), ['attach', '--url', urls, 'new'], { env, input: 'say good morning\n' });

  const found = await attach(`ws://127.0.0.1:1,http://127.0.0.1:${a.port}`);
  const missing = await attach('ws://127.0.0.1:1,ws://127.0.0.1:2');
  const malformed = await attach('ws://127.0.0.1:1,127.0.0.1:2');

  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('good morning') });
  expect(missing).toMatchObject({
    code: 1,
    stderr: 'tau: No server listens on 127.0.0.1:1; No server listens on 127.0.0.1:2\n',
  });
  expect(malformed).toMatchObject({ code: 2, stderr: expect.stringContaining('begins with ws:// or wss://') });
});

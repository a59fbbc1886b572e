import { expect, it, onTestFinished } from 'vitest';
import { newHome } from '../support/agent/test-agent.ts';
import { type NatsServer, startNatsServer } from '../support/cluster/nats-server.ts';
import { freePort } from '../support/faults/server-process.ts';
import { runTau } from '../support/processes/program.ts';

it('[W154] tau cluster check names a replica that is not reachable', async () => {
  const servers = await threeServers();
  const home = newHome();
  const urls = servers.map(({ url }) => url).join(',');
  await expect
    .poll(async () => (await runTau(home, ['cluster', 'init', urls, '--max-bytes', '64M'])).code, { timeout: 60_000 })
    .toBe(0);
  const whole = () => runTau(home, ['cluster', 'check', urls]);
  await expect.poll(async () => (await whole()).code, { timeout: 30_000 }).toBe(0);
  expect((await whole()).stdout.match(/^ok +server n[123] /gm)).toHaveLength(3);

  await servers[2]?.stop('SIGKILL');

  await expect.poll(async () => (await whole()).stdout, { timeout: 60_000 }).toMatch(/ on server n3$/m);
  expect(await whole()).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^error +server nats:.*No NATS server/m),
  });
});

/** Three servers that are one cluster. */
async function threeServers(): Promise<readonly NatsServer[]> {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const servers = await Promise.all(
    ports.map((port, at) =>
      startNatsServer({
        config: `server_name: n${at + 1}\ncluster { name: t, listen: 127.0.0.1:${port}, routes: [${routes}] }`,
      }),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  });
  return servers;
}

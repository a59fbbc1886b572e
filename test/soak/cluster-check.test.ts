import { expect, it, onTestFinished } from 'vitest';
import { newHome } from '../support/agent/test-agent.ts';
import { NatsCluster } from '../support/cluster/nats-cluster.ts';
import { runTau } from '../support/processes/program.ts';

const KEY_LIFE_MS = 10_000;

it('[W154] tau cluster check names a replica that is not reachable', async () => {
  const cluster = await NatsCluster.start(KEY_LIFE_MS);
  onTestFinished(() => cluster.stop());
  const home = newHome();
  const check = () => runTau(home, ['cluster', 'check', cluster.urls.join(',')]);
  await expect.poll(async () => (await check()).code).toBe(0);
  expect((await check()).stdout.match(/^ok +server n[123] /gm)).toHaveLength(3);

  await cluster.members[2]?.end('SIGKILL');

  await expect.poll(async () => (await check()).stdout).toMatch(/ on server n3$/m);
  expect(await check()).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^error +server nats:.*No NATS server/m),
  });
}, 180_000);

import { afterAll, beforeAll, expect, it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { type NatsServer, startNatsServer } from '../../support/cluster/nats-server.ts';
import { runTau } from '../../support/processes/program.ts';
import { startTarget, TARGET_TOKEN } from '../../support/server/attack-target.ts';

let nats: NatsServer;

beforeAll(async () => {
  nats = await startNatsServer();
});

afterAll(() => nats.stop());

const oneReplica = ['--cluster-replicas', '1'];

it('a session of one node is listed and continued by another after SIGTERM and after SIGKILL', async () => {
  const { code, stdout } = await runTau(newHome(), ['cluster', 'init', nats.url, '--max-bytes', '64M', ...oneReplica]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'The cluster is set up.\n' });
  const work = newHome();
  const startNode = (name: string) =>
    startTarget({
      script: [{ text: 'hello', when: '.', keep: true }],
      args: ['--cluster', nats.url, '--node', name, ...oneReplica, '--cwd', work.cwd],
    });
  const a = await startNode('a');
  const first = await a.connect({});
  const connected = await first.next('server_connected');
  const id = String(connected['sessionId']);
  await first.run('one');
  await a.stop();

  const b = await startNode('b');
  const { body } = await b.get('/api/sessions', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } });
  const { sessions } = JSON.parse(body) as { sessions: object[] };
  expect(sessions).toMatchObject([{ id, firstMessage: 'one' }]);
  const second = await b.connect({ session: id });
  const synced = await second.next('state_synced');
  expect(synced['messages']).toHaveLength(2);
  await second.run('two');
  process.kill(b.pid, 'SIGKILL');

  const c = await startNode('c');
  const third = await c.connect({ session: id });
  expect((await third.next('state_synced'))['messages']).toHaveLength(4);
});

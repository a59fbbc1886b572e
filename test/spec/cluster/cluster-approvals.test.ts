import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import {
  ASKED_COMMAND,
  approvalAgent,
  OPTION_NAMES,
  publishing,
  question,
} from '../../support/server/approval-agent.ts';
import { newToken, type Target } from '../../support/server/attack-target.ts';

const cluster = testCluster();

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

/** Two nodes, and a session of the first whose agent publishes questions. */
async function startAsked() {
  const home = newHome();
  const agent = approvalAgent(home);
  const start = (name: string) =>
    startNode(cluster.server.url, name, { cwd: home.cwd, args: [...ONE_REPLICA, ...agent.args], script: undefined });
  const [near, far] = [await start('near'), await start('far')];
  const owner = await near.connect();
  await owner.find('state_synced');
  const { sessionId } = await owner.location();
  const attach = async (scope: string, ...args: string[]) => {
    const tokenArgs = { scope, args: [...args, '--cluster', cluster.server.url] };
    const { token, id } = await newToken(newHome(), tokenArgs);
    const me = () => far.get('/api/me', { headers: { authorization: `Bearer ${token}` } });
    await expect.poll(async () => (await me()).status, { timeout: 10_000 }).toBe(200);
    const client = await far.connect({ session: sessionId, token });
    await client.find('state_synced');
    return { client, id, limit: JSON.parse((await me()).body).limit as unknown };
  };
  const publish = (...records: readonly object[]) =>
    owner.ok({ type: 'set_session_name', name: publishing(...records) });
  return { near, far, owner, sessionId, attach, publish, received: agent.received };
}

function approvalsIn({ home }: Target, name: string): WireRecord[] {
  const path = join(home.agentDir, 'server', name);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'approval');
}

it('[A108 A109 A113 A114 A115] on another node a question is whole, a limit holds, and the answer that counts is audited', async () => {
  const { near, far, owner, sessionId, attach, publish, received } = await startAsked();
  const { client: limited, id, limit } = await attach('view,prompt', '--limit', 'auto');
  const { client: viewer } = await attach('view');
  const [first, second] = [question('q1', { kind: 'outside', needs: 'full' }), question('q2', { needs: 'auto' })];
  await publish(first, second);
  await limited.find((record) => record['id'] === 'q2');
  const answer = (one: string) =>
    limited.send({
      type: 'extension_ui_response',
      id: one,
      value: OPTION_NAMES.allow_once,
      approvalLimit: 'full',
    });

  await limited.ok({ type: 'prompt', message: 'x', approvalLimit: 'full' });
  await limited.ok({ type: 'set_approval_mode', mode: 'ask', mayLoosen: true });
  answer('q1');
  const error = await limited.find('server_error');
  await limited.find(
    (record) => record['id'] === 'q1' && limited.records.indexOf(record) > limited.records.indexOf(error),
  );
  answer('q2');
  await owner.find((record) => record.type === 'extension_ui_resolved' && record['id'] === 'q2');
  owner.send({ type: 'extension_ui_response', id: 'q1', value: OPTION_NAMES.reject_once });
  for (const client of [limited, viewer])
    await client.find((record) => record.type === 'extension_ui_resolved' && record['id'] === 'q1');
  answer('q1');
  await limited.ok({ type: 'get_state' });

  expect(limit).toBe('auto');
  const shown = limited.records.filter(({ type }) => type === 'extension_ui_request');
  expect(shown).toMatchObject([first, second, first]);
  expect(error).toMatchObject({ code: 'permission_denied' });
  expect(viewer.texts.join('\n')).not.toContain(ASKED_COMMAND);
  expect(received('prompt')).toMatchObject([{ approvalLimit: 'auto' }]);
  expect(received('set_approval_mode')).toMatchObject([{ approvalLimit: 'auto', mayLoosen: false }]);
  expect(received('extension_ui_response')).toMatchObject([
    { id: 'q2', value: OPTION_NAMES.allow_once, approvalLimit: 'auto' },
    { id: 'q1', value: OPTION_NAMES.reject_once },
  ]);
  const facts = { sessionId, tool: 'bash' };
  expect(approvalsIn(far, 'audit.jsonl')).toMatchObject([{ ...facts, grant: id, kind: 'tool', option: 'allow_once' }]);
  expect(approvalsIn(far, 'audit-access.jsonl')).toMatchObject([{ ...facts, grant: id, outcome: 'permission_denied' }]);
  expect(approvalsIn(near, 'audit.jsonl')).toMatchObject([{ ...facts, grant: 'env', option: 'reject_once' }]);
});

it('[A115] an answer of a client that leaves at once is audited on its node', async () => {
  const { far, owner, attach, publish } = await startAsked();
  const { client, id } = await attach('view,prompt');
  await publish(question('q1'));
  await client.find('extension_ui_request');

  client.send({ type: 'extension_ui_response', id: 'q1', value: OPTION_NAMES.allow_always });
  client.socket.close();
  await owner.find('extension_ui_resolved');

  await expect
    .poll(() => approvalsIn(far, 'audit.jsonl'))
    .toMatchObject([{ grant: id, tool: 'bash', kind: 'tool', option: 'allow_always' }]);
});

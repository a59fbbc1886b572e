import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import {
  ASKED_COMMAND,
  approvalAgent,
  OPTION_NAMES,
  publishing,
  question,
} from '../../support/server/approval-agent.ts';
import { newToken, startTarget, type TargetClient, type TargetQuery } from '../../support/server/attack-target.ts';

/** A server whose agent publishes questions on command, with the first client of its owner. */
async function startAsked(args: readonly string[] = []) {
  const home = newHome();
  const agent = approvalAgent(home);
  const target = await startTarget({ home, args: [...agent.args, ...args] });
  const owner = await target.connect();
  await owner.find('state_synced');
  const { sessionId } = await owner.location();
  const connect = async (query: TargetQuery = {}): Promise<TargetClient> => {
    const client = await target.connect({ session: sessionId, ...query });
    await client.find('state_synced');
    return client;
  };
  const withScope = async (scope: string, query: TargetQuery = {}) => {
    const { token, id } = await newToken(home, { scope });
    return { client: await connect({ ...query, token }), token, id };
  };
  const publish = (...records: readonly object[]) =>
    owner.ok({ type: 'set_session_name', name: publishing(...records) });
  return { home, target, owner, sessionId, connect, withScope, publish, received: agent.received };
}

const requests = ({ records }: TargetClient) => records.filter(({ type }) => type === 'extension_ui_request');

const isResolved = (id: string) => (record: WireRecord) =>
  record.type === 'extension_ui_resolved' && record['id'] === id;

const answerWith = (client: TargetClient, id: string, value: string) =>
  client.send({ type: 'extension_ui_response', id, value });

function auditOf(home: Home, name: string): WireRecord[] {
  const path = join(home.agentDir, 'server', name);
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];
}

it('[A112] a client that cannot answer a question gets no word of it, whenever it attaches', async () => {
  const { owner, withScope, publish, received } = await startAsked();
  const early = await withScope('view', { stream: 'delta' });
  const admin = await withScope('view,admin', { stream: 'delta' });
  const blind = await withScope('prompt');
  await publish(question('q1'), { type: 'state_changed', state: { pendingUi: [question('q1')] } });
  await owner.find('extension_ui_request');
  const late = await withScope('view');
  const clients = [early.client, admin.client, blind.client, late.client];

  for (const client of clients) {
    answerWith(client, 'q1', OPTION_NAMES.allow_once);
    await client.request({ type: 'get_state' });
  }
  await owner.ok({ type: 'get_state' });
  const frames = received('extension_ui_response');
  answerWith(owner, 'q1', OPTION_NAMES.reject_once);
  await late.client.find(isResolved('q1'));
  await early.client.find(isResolved('q1'));

  expect(frames).toEqual([]);
  for (const client of clients) {
    expect(requests(client)).toEqual([]);
    expect(client.texts.join('\n')).not.toContain(ASKED_COMMAND);
  }
  expect(owner.texts.join('\n')).toContain(ASKED_COMMAND);
});

it('[A112] a client that resumes gets no question that it cannot answer', async () => {
  const { owner, withScope, target, sessionId, publish } = await startAsked();
  const { client, token } = await withScope('view', { stream: 'delta' });
  const { epoch, seq } = await client.find('server_connected');
  client.socket.close();
  await client.ended;
  await publish(question('q1'));
  await owner.find('extension_ui_request');

  const query = { session: sessionId, stream: 'delta', epoch: String(epoch), after: String(seq) };
  const viewer = await target.connect({ ...query, token });
  await viewer.ok({ type: 'get_state' });
  const other = await target.connect(query);
  await other.find('extension_ui_request');

  expect(await viewer.find('server_connected')).toMatchObject({ resume: 'ok' });
  expect(viewer.texts.join('\n')).not.toContain(ASKED_COMMAND);
  expect(await other.find('server_connected')).toMatchObject({ resume: 'ok' });
});

it('[A113] a question reaches every client that can answer, whole, also after a reconnect, and the first answer counts', async () => {
  const { owner, target, sessionId, connect, withScope, publish, received } = await startAsked();
  const asked = question('q1', { needs: 'auto', why: { mode: 'ask', rule: 'bash(deploy *)' } });
  const first = await connect({ stream: 'delta' });
  await publish(asked);
  await first.find('extension_ui_request');
  const { epoch, seq } = await first.find('server_connected');
  first.socket.terminate();
  await first.ended;

  const resumed = await target.connect({
    session: sessionId,
    stream: 'delta',
    epoch: String(epoch),
    after: String(seq),
  });
  const { client: second } = await withScope('view,prompt');
  const third = await connect({ stream: 'cumulative', legacyNames: '1', ids: '1' });
  for (const client of [owner, resumed, second, third]) {
    const { approval, title, options } = await client.find('extension_ui_request');
    expect({ approval, title, options }).toEqual({
      approval: asked.approval,
      title: asked.title,
      options: asked.options,
    });
  }
  expect((await third.ok({ type: 'get_state' })).pendingUi).toMatchObject([asked]);

  answerWith(second, 'q1', OPTION_NAMES.allow_once);
  await second.ok({ type: 'ping' });
  for (const client of [resumed, third]) answerWith(client, 'q1', OPTION_NAMES.reject_stop);

  for (const client of [owner, resumed, third])
    expect(await client.find(isResolved('q1'))).toMatchObject({ by: 'client' });
  for (const client of [resumed, third]) await client.ok({ type: 'get_state' });
  expect(received('extension_ui_response')).toMatchObject([{ id: 'q1', value: OPTION_NAMES.allow_once }]);
  const late = await connect();
  await late.ok({ type: 'get_state' });
  expect(requests(late)).toEqual([]);
});

it('[A113] an answer that is no option of the question denies the call, and its message is kept', async () => {
  const { owner, publish, received } = await startAsked();
  const odd = [
    { value: 'Allow' },
    { value: '' },
    { value: 'allow_once' },
    { confirmed: true },
    { value: OPTION_NAMES.allow_once, cancelled: true, timedOut: true },
  ];

  for (const [index, fields] of odd.entries()) {
    await publish(question(`q${index}`));
    owner.send({ type: 'extension_ui_response', id: `q${index}`, message: 'Use make', ...fields });
    await owner.find(isResolved(`q${index}`));
  }
  await owner.ok({ type: 'get_state' });

  const frames = received('extension_ui_response');
  expect(frames).toHaveLength(odd.length);
  for (const frame of frames) {
    expect(frame).toMatchObject({ cancelled: true, message: 'Use make' });
    expect(frame).not.toHaveProperty('value');
  }
});

it('[A115] an answer is audited with its sender, the tool, the kind and the option, and no word of the call', async () => {
  const { home, sessionId, owner, withScope, publish } = await startAsked();
  const { client, id } = await withScope('view,prompt');
  const viewer = await withScope('view');
  const limited = await newToken(home, { args: ['--limit', 'auto'] });
  await publish(
    question('q1', { toolName: 'bash', kind: 'outside' }),
    question('q2', { toolName: 'write', kind: 'path' }),
    question('q3'),
    question('q4'),
  );
  await client.find((record) => record['id'] === 'q4');

  answerWith(viewer.client, 'q1', OPTION_NAMES.allow_always);
  await viewer.client.ok({ type: 'ping' });
  answerWith(client, 'q1', OPTION_NAMES.allow_always);
  answerWith(client, 'q2', 'reject_stop-id');
  client.send({ type: 'extension_ui_response', id: 'q3', value: 'secret answer', message: 'secret message' });
  answerWith(client, 'q1', OPTION_NAMES.allow_once);
  client.send({ type: 'extension_ui_response', id: 'q4', value: 7 });
  for (const one of ['q1', 'q2', 'q3', 'q4']) await owner.find(isResolved(one));
  await client.ok({ type: 'ping' });

  const approvals = auditOf(home, 'audit.jsonl').filter(({ message }) => message === 'approval');
  const common = { grant: id, name: 'test', sessionId, outcome: 'ok' };
  expect(approvals).toMatchObject([
    { ...common, tool: 'bash', kind: 'outside', option: 'allow_always' },
    { ...common, tool: 'write', kind: 'path', option: 'reject_stop' },
    { ...common, tool: 'bash', kind: 'tool', option: 'reject_once' },
    { ...common, tool: 'bash', kind: 'tool', option: 'reject_once' },
  ]);
  const denied = auditOf(home, 'audit-access.jsonl').filter(({ message }) => message === 'extension_ui_response');
  expect(denied).toMatchObject([{ grant: viewer.id, outcome: 'permission_denied' }]);
  expect(limited.id).not.toBe(id);
  const all = JSON.stringify([auditOf(home, 'audit.jsonl'), auditOf(home, 'audit-access.jsonl')]);
  for (const word of [ASKED_COMMAND, 'deploy', 'secret']) expect(all).not.toContain(word);
});

it('[A115] a refused answer is audited as refused', async () => {
  const { home, connect, publish } = await startAsked();
  const { token, id } = await newToken(home, { args: ['--limit', 'edit'] });
  const client = await connect({ token });
  await publish(question('q1', { kind: 'outside', needs: 'full' }));
  await client.find('extension_ui_request');

  answerWith(client, 'q1', OPTION_NAMES.allow_once);
  await client.find('server_error');

  const facts = { grant: id, tool: 'bash', kind: 'outside', option: 'allow_once' };
  expect(auditOf(home, 'audit-access.jsonl').filter(({ message }) => message === 'approval')).toMatchObject([
    { ...facts, outcome: 'permission_denied' },
  ]);
  expect(auditOf(home, 'audit.jsonl').filter(({ message }) => message === 'approval')).toEqual([]);
});

it('[A116] a question that no client can show is denied after its own time', async () => {
  const { owner, target, sessionId, withScope, publish, received } = await startAsked();
  const { client: viewer } = await withScope('view');
  await publish(question('kept', { waitMs: 50 }));
  await owner.find('extension_ui_request');
  owner.socket.close();

  expect(await viewer.find(isResolved('kept'))).toMatchObject({ by: 'timeout' });
  const late = await target.connect({ session: sessionId });
  await late.ok({ type: 'get_state' });
  expect(requests(late)).toEqual([]);
  expect(received('extension_ui_response')).toEqual([
    { type: 'extension_ui_response', id: 'kept', cancelled: true, timedOut: true },
  ]);
});

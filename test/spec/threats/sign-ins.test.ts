import { expect, it } from 'vitest';
import { openaiUser } from '../../support/agent/signed-in.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { newToken, startTarget, type Target, type TargetClient } from '../../support/server/attack-target.ts';
import { writeMcpServers } from '../../support/tools/mcp.ts';
import { startProtectedServer } from '../../support/tools/mcp-sign-in.ts';

const requestOf = (method: string) => (record: WireRecord) =>
  record.type === 'extension_ui_request' && record['method'] === method;

const loopback = `127.${[1, 2, 3].map(() => 1 + Math.floor(Math.random() * 250)).join('.')}`;

/** An admin's session that a viewer and a prompter attach to, before or after the dialog of a sign-in is shown. */
async function watchSignIn(target: Target, start: (admin: TargetClient) => Promise<string>) {
  const { home } = target;
  const admin = await target.connect();
  const { sessionId } = await admin.location();
  const [viewer, prompter] = await Promise.all([
    newToken(home, { scope: 'view' }),
    newToken(home, { scope: 'view,prompt' }),
  ]);
  const join = async (token: string) => {
    const client = await target.connect({ token, session: sessionId });
    await client.find('state_synced');
    return client;
  };
  const early = await Promise.all([join(viewer.token), join(prompter.token)]);
  const url = await start(admin);
  const dialog = await admin.find(requestOf('input'));
  const late = await Promise.all([join(viewer.token), join(prompter.token)]);
  return { admin, url, dialog, prompter: early[1], others: [...early, ...late] };
}

async function startWatchedLogin() {
  const { home, args } = await openaiUser();
  const target = await startTarget({ home, agentArgs: args, env: { PI_OAUTH_CALLBACK_HOST: loopback } });
  return watchSignIn(target, async (admin) => {
    admin.send({ type: 'login', id: 'in', providerId: 'openai' });
    return String((await admin.find(requestOf('open_url')))['url']);
  });
}

/** A session whose MCP server demands a sign-in. */
async function startWatchedMcpSignIn() {
  const home = newHome();
  const { url } = await startProtectedServer();
  writeMcpServers(home, { s: { url } });
  const target = await startTarget({ home });
  return watchSignIn(target, async (admin) => {
    const { title } = await admin.find(requestOf('input'));
    return /http\S+/.exec(String(title))?.[0] ?? '';
  });
}

const signIns = [
  ['a login', startWatchedLogin],
  ['the sign-in of an MCP server', startWatchedMcpSignIn],
] as const;

const textOf = ({ texts }: TargetClient) => texts.join('\n');

it.each(signIns)('[A30] %s is shown only to admins', async (_, start) => {
  const { admin, url, dialog, others } = await start();

  const states = await Promise.all(others.map((client) => client.ok({ type: 'get_state' })));

  expect((await admin.ok({ type: 'get_state' })).pendingUi).toMatchObject([{ id: dialog['id'] }]);
  expect(states.map(({ pendingUi }) => pendingUi)).toEqual([[], [], [], []]);
  for (const client of others) {
    expect(client.records.filter(({ type }) => type === 'extension_ui_request')).toEqual([]);
    expect(textOf(client)).not.toContain(new URL(url).searchParams.get('state'));
    expect(textOf(client)).not.toContain(dialog['id']);
  }
});

it.each(signIns)('[A30] a client without admin cannot answer the dialog of %s', async (_, start) => {
  const { admin, dialog, prompter } = await start();

  prompter.send({ type: 'extension_ui_response', id: dialog['id'], cancelled: true });
  await prompter.ok({ type: 'get_state' });

  expect((await admin.ok({ type: 'get_state' })).pendingUi).toMatchObject([{ id: dialog['id'] }]);
});

it('[A30] an admin can cancel a login', async () => {
  const { admin, dialog } = await startWatchedLogin();

  admin.send({ type: 'extension_ui_response', id: dialog['id'], cancelled: true });

  expect(await admin.find(({ id }) => id === 'in')).toMatchObject({ success: false, code: 'login_failed' });
});

it('[A30] an admin can cancel the sign-in of an MCP server', async () => {
  const { admin, dialog } = await startWatchedMcpSignIn();

  admin.send({ type: 'extension_ui_response', id: dialog['id'], cancelled: true });

  const isCancelled = ({ type, server }: WireRecord) =>
    type === 'mcp_status' && /cancelled/.test(JSON.stringify(server));
  expect(await admin.find(isCancelled)).toMatchObject({ server: { status: 'failed' } });
});

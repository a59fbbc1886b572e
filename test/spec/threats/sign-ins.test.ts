import { expect, it } from 'vitest';
import { openaiUser } from '../../support/agent/signed-in.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { newToken, startTarget, type TargetClient } from '../../support/server/attack-target.ts';

const requestOf = (method: string) => (record: WireRecord) =>
  record.type === 'extension_ui_request' && record['method'] === method;

const loopback = `127.${[1, 2, 3].map(() => 1 + Math.floor(Math.random() * 250)).join('.')}`;

/** An admin who has started a login in a session that a viewer and a prompter attach to, before or after that. */
async function startWatchedLogin() {
  const { home, args } = await openaiUser();
  const target = await startTarget({ home, agentArgs: args, env: { PI_OAUTH_CALLBACK_HOST: loopback } });
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
  admin.send({ type: 'login', id: 'in', providerId: 'openai' });
  const { url } = await admin.find(requestOf('open_url'));
  const dialog = await admin.find(requestOf('input'));
  const late = await Promise.all([join(viewer.token), join(prompter.token)]);
  return { admin, url: String(url), dialog, prompter: early[1], others: [...early, ...late] };
}

const textOf = ({ texts }: TargetClient) => texts.join('\n');

it('[A30] a login is shown only to admins', async () => {
  const { admin, url, dialog, others } = await startWatchedLogin();

  const states = await Promise.all(others.map((client) => client.ok({ type: 'get_state' })));

  expect((await admin.ok({ type: 'get_state' })).pendingUi).toMatchObject([{ id: dialog['id'] }]);
  expect(states.map(({ pendingUi }) => pendingUi)).toEqual([[], [], [], []]);
  for (const client of others) {
    expect(client.records.filter(({ type }) => type === 'extension_ui_request')).toEqual([]);
    expect(textOf(client)).not.toContain(new URL(url).searchParams.get('state'));
    expect(textOf(client)).not.toContain(dialog['id']);
  }
});

it('[A30] a client without admin cannot answer the dialog of a login', async () => {
  const { admin, dialog, prompter } = await startWatchedLogin();

  prompter.send({ type: 'extension_ui_response', id: dialog['id'], cancelled: true });
  await prompter.ok({ type: 'get_state' });

  expect((await admin.ok({ type: 'get_state' })).pendingUi).toMatchObject([{ id: dialog['id'] }]);
  admin.send({ type: 'extension_ui_response', id: dialog['id'], cancelled: true });
  expect(await admin.find(({ id }) => id === 'in')).toMatchObject({ success: false, code: 'login_failed' });
});

import { expect, it } from 'vitest';
import { waitUntil } from '../../support/processes/processes.ts';
import { OWNER_TOKEN, type ServerOptions, startServer } from '../../support/server/test-server.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

/** A restarted server with two stored sessions. */
async function restarted(options: ServerOptions = {}) {
  const { home, kill, exited, ...before } = await startServer({ script: TALK });
  const createSession = async () => {
    const peer = await before.attach();
    await peer.run('Hi');
    return peer.cursor.session;
  };
  const [requested, other] = [await createSession(), await createSession()];
  kill('SIGTERM');
  await exited;
  const started = before.agents().length;
  const server = await startServer({ ...options, home, script: TALK });
  const load = (session: string, { headers = {}, path = '/', method = 'GET' } = {}) =>
    fetch(new URL(`${path}?session=${session}`, server.url.replace(/^ws/, 'http')), { method, headers });
  return { server, requested, other, load, startedAgents: () => server.agents().slice(started) };
}

const owner = { authorization: `Bearer ${OWNER_TOKEN}` };

it('[W97] loading the page of a session starts its agent, which the WebSocket then uses', async () => {
  const { server, requested, load, startedAgents } = await restarted();

  expect((await load(requested, { headers: owner })).status).toBe(200);
  await waitUntil(async () => startedAgents().length === 1);
  const peer = await server.attach({ session: requested });

  expect(await peer.ok({ type: 'get_messages' })).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant' }],
  });
  expect(startedAgents()).toHaveLength(1);
});

it('[W97] other requests, and requests without access to the session, start no agent', async () => {
  const tokens = { elsewhere: { name: 'Eve', scopes: ['view'], allowedPaths: ['/nowhere'] } };
  const { server, requested, other, load, startedAgents } = await restarted({ tokens });
  const login = await fetch(new URL('/api/login', server.url.replace(/^ws/, 'http')), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: OWNER_TOKEN }),
  });
  const cookie = login.headers.getSetCookie().join().split(';', 1).join();

  await load(other);
  await load(other, { headers: { authorization: 'Bearer elsewhere' } });
  await load(other, { headers: { cookie, 'sec-fetch-site': 'cross-site' } });
  await load(other, { headers: owner, method: 'HEAD' });
  await load(other, { headers: owner, path: '/schema.json' });
  for (const unknownId of ['', 'missing', '..%2F..', '%00', other.slice(0, 8)]) {
    expect((await load(unknownId, { headers: owner })).status).toBe(200);
  }
  await load(requested, { headers: { cookie, 'sec-fetch-site': 'none' } });
  await waitUntil(async () => startedAgents().length > 0);
  const peer = await server.attach({ session: requested });

  const { sessions } = await peer.ok({ type: 'list_sessions' });
  expect(sessions.find(({ id }: { id: string }) => id === other)).not.toHaveProperty('status');
  expect(startedAgents().map(({ args }) => args)).toEqual([expect.stringContaining(requested)]);
});

it('[W97] loading a page starts no agent when half of the sessions are in use', async () => {
  const { server, requested, other, load } = await restarted({ args: ['--max-sessions', '2'] });
  const peer = await server.attach({ session: requested });

  await load(other, { headers: owner });

  const { sessions } = await peer.ok({ type: 'list_sessions' });
  expect(sessions.find(({ id }: { id: string }) => id === other)).not.toHaveProperty('status');
  await server.attach({ session: other });
});

it('[W97] a session whose agent failed to start early is rejected when its client connects', async () => {
  const { server, requested, load } = await restarted({ agentArgs: ['--no-such-option'] });

  await load(requested, { headers: owner });
  const peer = server.connect({ session: requested });

  expect(await peer.ended).toMatchObject({ code: 1011, reason: expect.stringContaining('no-such-option') });
});

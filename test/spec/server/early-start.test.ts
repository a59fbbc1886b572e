import { expect, it } from 'vitest';
import { waitUntil } from '../../support/processes/processes.ts';
import { type ServerOptions, startServer, OWNER_TOKEN } from '../../support/server/test-server.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

/** A server that has just started, and two sessions in which something was said. */
async function restarted(options: ServerOptions = {}) {
  const { home, kill, exited, ...before } = await startServer({ script: TALK });
  const talk = async () => {
    const peer = await before.attach();
    await peer.run('Hi');
    return peer.cursor.session;
  };
  const [wanted, other] = [await talk(), await talk()];
  kill('SIGTERM');
  await exited;
  const started = before.agents().length;
  const server = await startServer({ ...options, home, script: TALK });
  const load = (session: string, { headers = {}, path = '/', method = 'GET' } = {}) =>
    fetch(new URL(`${path}?session=${session}`, server.url.replace(/^ws/, 'http')), { method, headers });
  return { server, wanted, other, load, begun: () => server.agents().slice(started) };
}

const owner = { authorization: `Bearer ${OWNER_TOKEN}` };

it('[W97] an agent is started when the page of its session is loaded, and is there for the socket', async () => {
  const { server, wanted, load, begun } = await restarted();

  expect((await load(wanted, { headers: owner })).status).toBe(200);
  await waitUntil(async () => begun().length === 1);
  const peer = await server.attach({ session: wanted });

  expect(await peer.ok({ type: 'get_messages' })).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant' }],
  });
  expect(begun()).toHaveLength(1);
});

it('[W97] what is not the page, or does not come from somebody who may open the session, starts nothing', async () => {
  const tokens = { elsewhere: { name: 'Eve', scopes: ['view'], allowedPaths: ['/nowhere'] } };
  const { server, wanted, other, load, begun } = await restarted({ tokens });
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
  for (const nonsense of ['', 'missing', '..%2F..', '%00', other.slice(0, 8)]) {
    expect((await load(nonsense, { headers: owner })).status).toBe(200);
  }
  await load(wanted, { headers: { cookie, 'sec-fetch-site': 'none' } });
  await waitUntil(async () => begun().length > 0);
  const peer = await server.attach({ session: wanted });

  const { sessions } = await peer.ok({ type: 'list_sessions' });
  expect(sessions.find(({ id }: { id: string }) => id === other)).not.toHaveProperty('status');
  expect(begun().map(({ args }) => args)).toEqual([expect.stringContaining(wanted)]);
});

it('[W97] where many agents are, none is started before somebody comes', async () => {
  const { server, wanted, other, load } = await restarted({ args: ['--max-sessions', '2'] });
  const peer = await server.attach({ session: wanted });

  await load(other, { headers: owner });

  const { sessions } = await peer.ok({ type: 'list_sessions' });
  expect(sessions.find(({ id }: { id: string }) => id === other)).not.toHaveProperty('status');
  await server.attach({ session: other });
});

it('[W97] a session that cannot be opened is told so when its socket comes, as if nothing had been before', async () => {
  const { server, wanted, load } = await restarted({ agentArgs: ['--no-such-option'] });

  await load(wanted, { headers: owner });
  const peer = server.connect({ session: wanted });

  expect(await peer.ended).toMatchObject({ code: 1011, reason: expect.stringContaining('no-such-option') });
});

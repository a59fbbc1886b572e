import { expect, it } from 'vitest';
import {
  attached,
  connected,
  reached,
  reconnection,
  remote,
  remoteServer,
  synced,
} from '../testing/remote-server.node.ts';
import { connectRemote } from './connect-remote.node.ts';

const approvals = { mode: 'auto', sandbox: 'auto' } as const;
const request = { type: 'set_approval_mode', ...approvals };
const result = { approvalMode: 'auto', sandbox: { status: 'on' } };
const resumed = connected({ resume: 'ok' });

// The session that the connection creates, by the id that the client chose.
const created = ({ query }: { query: Record<string, string> }, fields: object = {}) =>
  connected({ sessionId: query['new'], ...fields });

it('a session that the client creates gets its approval mode once, ahead of all prompts', async () => {
  const { server, session } = await remote({ approvals });
  const prompt = session.prompt({ message: 'hello' });
  const connection = await server.connection();
  connection.send(created(connection), synced());

  const first = await connection.next();
  await session.ping();
  const sentBefore = [...connection.sent];
  connection.respond(first, result);
  const second = await connection.next();
  connection.respond(second, { disposition: 'started' });
  await prompt;
  connection.cut();
  const next = await reconnection(server, session);
  next.send(created(connection, { resume: 'ok' }));
  await session.ping();
  connection.cut();

  expect(first).toMatchObject(request);
  expect(sentBefore).toEqual([]);
  expect(second).toMatchObject({ type: 'prompt', message: 'hello' });
  expect(next.sent).toEqual([]);
});

it.each([{ session: 's1', approvals }, {}])('no approval mode is requested with the options %j', async (options) => {
  const { session, connection } = await attached(options);

  await session.ping();

  expect(connection.sent).toEqual([]);
});

it('a request without a response is sent again, also when the session has messages by then', async () => {
  const { server, session } = await remote({ approvals });
  const first = await server.connection();
  first.send(created(first), synced());
  await first.next();

  first.cut();
  const second = await reconnection(server, session);
  const message = { role: 'user', content: 'hello', timestamp: 1 };
  second.send(created(first), synced({ messageCount: 1 }, [message]));
  const repeated = await second.next();
  second.respond(repeated, result);
  await session.ping();
  second.cut();
  const third = await reconnection(server, session);
  third.send(created(first, { epoch: 'e2' }), synced({ messageCount: 1 }, [message]));
  await session.ping();

  expect(repeated).toMatchObject(request);
  expect(third.query['session']).toBe(first.query['new']);
  expect(third.sent).toEqual([]);
});

it('an empty session that the server created again gets its mode again', async () => {
  const { server, session } = await remote({ approvals });
  const first = await server.connection();
  first.send(created(first), synced());
  first.respond(await first.next(), result);
  await session.ping();

  first.cut();
  const second = await reconnection(server, session);
  second.send(created(first, { epoch: 'e2' }), synced());
  const repeated = await second.next();

  expect(second.query['new']).toBe(first.query['new']);
  expect(repeated).toMatchObject(request);
});

it('a session gets the loosest mode that the server permits', async () => {
  const { server, session } = await remote({ approvals });
  const connection = await server.connection();
  connection.send(created(connection), synced());
  const refuse = async () => {
    const { id, type, mode } = await connection.next();
    connection.send({ type: 'response', command: type, id, success: false, error: 'No', code: 'permission_denied' });
    return mode;
  };

  const refused = [await refuse(), await refuse()];
  const accepted = await connection.next();
  connection.respond(accepted, { ...result, approvalMode: 'ask' });
  await session.ping();

  expect(refused).toEqual(['auto', 'edit']);
  expect(accepted).toMatchObject({ type: 'set_approval_mode', mode: 'ask', sandbox: 'auto' });
  expect(connection.sent).toEqual([]);
});

it('a session that the client moves to keeps its mode', async () => {
  const { server, session } = await remote({ approvals });
  const connection = await server.connection();
  connection.send(created(connection), synced());
  connection.respond(await connection.next(), result);
  const move = session.switchSession({ sessionPath: '/other.jsonl' });

  connection.respond(await connection.next(), { cancelled: false, sessionId: 's2' });
  await move;
  connection.send(connected({ sessionId: 's2', epoch: 'e2' }), synced({ sessionId: 's2' }));
  await session.ping();

  expect(connection.sent).toEqual([]);
});

it.each<[string, object, object[], boolean]>([
  ['is empty and unrestricted', { approvalMode: 'full' }, [], true],
  ['is empty, of an agent without modes', {}, [], true],
  ['has a mode', { approvalMode: 'ask' }, [], false],
  ['has messages', {}, [{ role: 'user', content: 'x', timestamp: 1 }], false],
  ['has earlier messages', { messageCount: 3 }, [], false],
])('with the id of a caller, a session that %s gets the mode: %#', async (_label, state, messages, isRequested) => {
  const server = await remoteServer();
  const session = connectRemote(`${server.url}?new=0199`, { approvals });
  const connection = await server.connection();
  connection.send(created(connection), synced(state, messages));
  await reached(session, 'open');
  await session.ping();
  session.close();

  expect(connection.sent.map(({ type }) => type)).toEqual(isRequested ? ['set_approval_mode'] : []);
});

it.each(['not_supported', 'permission_denied', 'unknown_command'])(
  'the refusal %s leaves the session usable',
  async (code) => {
    const { server, session } = await remote({ approvals });
    const connection = await server.connection();
    connection.send(created(connection), synced());
    connection.reject(await connection.next(), code);
    const prompt = session.prompt({ message: 'hello' });

    connection.respond(await connection.next(), { disposition: 'started' });

    expect(await prompt).toEqual({ disposition: 'started' });
  },
);

it('nothing is sent to a session whose sandbox does not work', async () => {
  const { server, session } = await remote({ approvals: { sandbox: 'required' } });
  const prompt = expect(session.prompt({ message: 'hello' })).rejects.toMatchObject({ name: 'ConnectionLost' });
  const connection = await server.connection();
  connection.send(created(connection), synced());

  connection.reject(await connection.next(), 'sandbox_unavailable');
  await prompt;
  await connection.closed;

  expect(session.status).toMatchObject({ state: 'closed', reason: 'No: sandbox_unavailable' });
  expect(connection.sent).toEqual([]);
});

it('prompts and shell commands wait for a new approval mode; control and reads do not', async () => {
  const { server, session, connection } = await attached();
  void session.setApprovalMode({ mode: 'ask' }).catch(() => {});
  void session.prompt({ message: 'hello' }).catch(() => {});
  void session.bash({ command: 'ls' }).catch(() => {});
  void session.abort().catch(() => {});
  void session.getState().catch(() => {});
  const sent = await connection.take(3);

  await session.ping();
  const rest = connection.sent.length;
  connection.cut();
  const next = await reconnection(server, session);
  next.send(resumed);
  const after = await next.take(3);

  expect(sent.map(({ type }) => type)).toEqual(['set_approval_mode', 'abort', 'get_state']);
  expect(rest).toBe(0);
  expect(after.map(({ type }) => type)).toEqual(['prompt', 'bash', 'get_state']);
});

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { interceptingAgentArgs } from '../../support/server/intercepting-agent.ts';
import { OWNER_TOKEN, startServer, type TestServer } from '../../support/server/test-server.ts';
import { storeLargeConversation } from '../../support/sessions/long-conversation.ts';
import { storeShortSession } from '../../support/sessions/stored-session.ts';

const VIEWER_TOKEN = 'token-of-a-viewer';
const tokens = { [VIEWER_TOKEN]: { name: 'Viewer', scopes: ['view'], allowedPaths: ['/'] } };
const settings = { compaction: { enabled: false } };

// As many commands as a client may have in flight.
const READ_COUNT = 200;

// Only these fields of the last messages are needed: a snapshot of everything would only cost time.
const SHORT = { tail: 1, stream: 'delta', legacyNames: 0 };

it('[W99] an abort overtakes the reads of another client', async () => {
  const home = newHome();
  const session = storeLargeConversation(home, 20);
  const script = [{ steps: [{ text: 'Well, ' }, { await: newGate().path }] }];
  const server = await startServer({ home, script, tokens, settings });
  const owner = await server.attach({ session, ...SHORT });
  const viewer = await connectReader(server, session);
  await owner.ok({ type: 'prompt', message: 'Hi' });
  await owner.next('message_update');

  for (let reads = 1; reads <= READ_COUNT; reads++) viewer.send({ id: reads, type: 'get_messages' });
  await viewer.response('get_messages');
  await owner.ok({ type: 'abort' });
  const readsBeforeAbort = viewer.count('get_messages');

  expect(await owner.next('agent_settled')).toMatchObject({ aborted: true });
  expect(readsBeforeAbort).toBeLessThan(READ_COUNT / 4);
  expect(server.agents()).toHaveLength(1);
});

it('[W99 W100] reads that wait are dropped with their client, and others keep their turn', async () => {
  const home = newHome();
  const session = storeLargeConversation(home, 1);
  const log = join(home.root, 'requests');
  const gate = newGate();
  const intercept = `
    if (!request.type.startsWith('get_messages')) return false;
    appendFileSync('${log}', request.type + '\\n');
    if (request.type !== 'get_messages' || existsSync('${gate.path}')) return false;
    const timer = setInterval(() => {
      if (!existsSync('${gate.path}')) return;
      clearInterval(timer);
      answer(request, { success: true, data: { messages: [] } });
    }, 5);
    return true;`;
  const server = await startServer({ home, tokens, settings, args: interceptingAgentArgs(home, intercept) });
  const owner = await server.attach({ session, ...SHORT });
  const viewer = await connectReader(server, session);
  for (let reads = 1; reads <= READ_COUNT; reads++) viewer.send({ id: reads, type: 'get_messages' });
  viewer.send({ type: 'ping' });
  await viewer.response('ping');

  expect(await owner.ok({ type: 'get_messages_page', limit: 1 })).toMatchObject({ totalMessages: expect.any(Number) });
  const reads = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((type) => type === 'get_messages');
  const meanwhile = reads();
  viewer.socket.close();
  await viewer.closed;
  gate.open();
  await owner.ok({ type: 'get_messages' });

  expect(meanwhile).toHaveLength(2);
  expect(reads().length).toBeLessThan(10);
});

it('[W139] lists of sessions of one token are made one at a time, and those of others take turns with them', async () => {
  const home = newHome();
  const session = storeLargeConversation(home, 1);
  for (let count = 0; count < 500; count++) storeShortSession(home, randomUUID(), `question ${count}`);
  const server = await startServer({ home, tokens, settings });
  const owner = await server.attach({ session, ...SHORT });
  const viewer = await connectReader(server, session);

  for (let reads = 1; reads <= READ_COUNT; reads++) viewer.send({ id: reads, type: 'list_sessions', limit: 1000 });
  await viewer.response('list_sessions');
  await owner.ok({ type: 'list_sessions', limit: 1 });
  await owner.ok({ type: 'get_state' });

  expect(viewer.count('list_sessions')).toBeLessThan(READ_COUNT / 4);
});

it('[W106] unread snapshots of one token cost bounded memory, and other tokens attach', async () => {
  const home = newHome();
  const session = storeLargeConversation(home, 20);
  const server = await startServer({ home, tokens, settings });
  await server.attach({ session, ...SHORT });
  const peakMegabytes = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = peakMegabytes();
  const viewers = Array.from({ length: 30 }, () => rawSocket(server, { token: VIEWER_TOKEN, session }));
  await Promise.all(viewers.map((viewer) => new Promise((resolve) => viewer.once('open', resolve))));
  for (const viewer of viewers) viewer.pause();

  const owner = rawSocket(server, { token: OWNER_TOKEN, session });
  await snapshotOf(owner);
  const peak = peakMegabytes() - before;
  const [first, ...others] = viewers.toReversed();
  for (const viewer of others) viewer.terminate();
  const snapshot = snapshotOf(first as WebSocket);
  first?.resume();

  await snapshot;
  expect(peak).toBeLessThan(500);
});

function rawSocket(server: TestServer, query: Readonly<Record<string, string>>): WebSocket {
  const url = new URL(server.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  return socket;
}

/** Settles when the snapshot has arrived. */
const snapshotOf = (socket: WebSocket) =>
  new Promise<void>((resolve) =>
    socket.on('message', (data: Buffer) => {
      if (data.subarray(0, 30).includes('state_synced')) resolve();
    }),
  );

interface Reader {
  readonly socket: WebSocket;
  readonly closed: Promise<void>;
  readonly send: (command: object) => void;
  /** The number of responses to commands of this type. */
  readonly count: (type: string) => number;
  /** Settles with the first response to a command of this type. */
  readonly response: (type: string) => Promise<void>;
}

/** Attaches a viewer that only counts its responses. */
async function connectReader(server: TestServer, session: string): Promise<Reader> {
  const query = Object.entries({ ...SHORT, token: VIEWER_TOKEN, session });
  const socket = rawSocket(server, Object.fromEntries(query.map(([name, value]) => [name, String(value)])));
  const received: string[] = [];
  let notify = () => {};
  socket.on('message', (data: Buffer) => {
    received.push(data.subarray(0, 200).toString());
    notify();
  });
  const waitFor = async (part: string) => {
    while (!received.some((text) => text.includes(part)))
      await new Promise<void>((resolve) => {
        notify = resolve;
      });
  };
  await waitFor('"type":"state_synced"');
  const responseTo = (type: string) => `"type":"response","command":"${type}"`;
  return {
    socket,
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
    send: (command) => socket.send(JSON.stringify(command)),
    count: (type) => received.filter((text) => text.includes(responseTo(type))).length,
    response: (type) => waitFor(responseTo(type)),
  };
}

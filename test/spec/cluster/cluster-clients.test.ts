import { afterEach, expect, it, onTestFinished } from 'vitest';
import { connectRemote } from '../../../src/client/remote/connect-remote.node.ts';
import type { RemoteOptions, RemoteSession } from '../../../src/client/remote/remote-session.ts';
import { type ConversationView, emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/protocol/generated/vocabulary.ts';
import { homeWithCommands } from '../../support/agent/extensions.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';

const cluster = testCluster();

const script = [
  { steps: [{ text: 'Half of ' }, { stall: true }], when: '^tell', keep: true },
  { steps: [{ toolCall: { name: 'weather', arguments: { city: 'Rome' } } }], when: '^weather' },
  { text: 'hello', when: '.', keep: true },
];

/** Starts two nodes with one workspace. */
async function startTwo(
  names: readonly [string, string],
  more: readonly object[] = [],
): Promise<{ a: Target; b: Target; cwd: string }> {
  const { cwd } = newHome();
  const [a, b] = await Promise.all(
    names.map((name) => startNode(cluster.server.url, name, { cwd, script: [...more, ...script], args: ONE_REPLICA })),
  );
  return { a: a as Target, b: b as Target, cwd };
}

const killNode = ({ pid }: Target) => process.kill(pid, 'SIGKILL');

interface Connected {
  readonly session: RemoteSession;
  readonly events: readonly AgentEvent[];
  readonly view: () => ConversationView;
}

/** Connects a client that folds all that it receives. */
function connect(addresses: string | readonly string[], options: RemoteOptions = {}): Connected {
  const session = connectRemote(addresses, { token: TARGET_TOKEN, whenLost: 'wait', ...options });
  onTestFinished(() => session.close());
  const events: AgentEvent[] = [];
  let view = emptyView;
  session.onEvent((event) => {
    events.push(event);
    view = reduce(view, event);
  });
  return { session, events, view: () => view };
}

/** Waits until the session is in this state; settles also if it is already. */
const reached = (session: RemoteSession, state: string) =>
  new Promise<void>((resolve) => {
    const check = () => session.status.state === state && resolve();
    session.onState(check);
    check();
  });

/** The texts of the user messages in the log of a session. */
async function storedPrompts(sessionId: string | undefined): Promise<readonly string[]> {
  const log = (await auditLogs([cluster.server.url])).get(sessionId ?? '');
  return (log?.entries ?? []).flatMap(({ message }) =>
    message?.role === 'user' ? [message.content.map(({ text }: { text: string }) => text).join('')] : [],
  );
}

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

// The first address leads to the node that dies, or the session is served there and the client is forwarded to it.
const orders = ['the owner first', 'the owner last'] as const;
const [IDLE_ORDERS, RUN_ORDERS] = process.env['SOAK'] ? [orders, orders] : [orders.slice(1), orders.slice(0, 1)];

it.each(IDLE_ORDERS)(
  '[W164 W165] a client continues on another node when the owner dies while idle: %s',
  async (order) => {
    const { a, b, cwd } = await startTwo([`idle-${orders.indexOf(order)}`, `other-${orders.indexOf(order)}`]);
    const owner = connect(a.socketUrl, { cwd });
    await owner.session.promptAndWait('one');
    const addresses = order === 'the owner first' ? [a.socketUrl, b.socketUrl] : [b.socketUrl, a.socketUrl];
    const client = connect(addresses.join(','), { session: owner.session.sessionId });
    await client.session.setCustomTools([
      {
        name: 'weather',
        description: 'The weather in a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        execute: () => Promise.resolve('sunny'),
      },
    ]);

    killNode(a);
    const inFlight = client.session.promptAndWait({ message: 'two', streamingBehavior: 'followUp' });
    await reached(client.session, 'reconnecting');
    const waiting = client.session.promptAndWait({ message: 'weather', streamingBehavior: 'followUp' });
    expect((await inFlight).settled).toMatchObject({ outcome: 'ok' });
    expect((await waiting).settled).toMatchObject({ outcome: 'ok' });

    const fresh = connect(b.socketUrl, { session: client.session.sessionId });
    await fresh.session.ping();
    expect(client.view().messages).toEqual(fresh.view().messages);
    expect(client.view().messages.filter(({ role }) => role === 'toolResult')).toMatchObject([
      { toolName: 'weather', isError: false },
    ]);
    expect(await storedPrompts(client.session.sessionId)).toEqual(['one', 'two', 'weather']);
  },
);

it.each(RUN_ORDERS)(
  '[W164 W165] a run that its node took along ends once, with what was queued kept: %s',
  async (order) => {
    const { a, b, cwd } = await startTwo([`run-${orders.indexOf(order)}`, `next-${orders.indexOf(order)}`]);
    const owner = connect([a.socketUrl, b.socketUrl], { cwd });
    await owner.session.promptAndWait('one');
    const addresses = order === 'the owner first' ? [a.socketUrl, b.socketUrl] : [b.socketUrl, a.socketUrl];
    const client = connect(addresses, { session: owner.session.sessionId });
    const run = client.session.promptAndWait('tell me a story');
    await expect.poll(() => client.events.some(({ type }) => type === 'message_update')).toBe(true);
    await client.session.followUp({ message: 'queued' });

    killNode(a);
    await reached(client.session, 'reconnecting');
    const waiting = client.session.prompt({ message: 'typed meanwhile' });
    const { accepted, settled } = await run;
    expect(settled).toMatchObject({ outcome: 'error', errorCode: 'interrupted', runId: accepted.runId });
    const { runId } = await waiting;
    const hasSettled = ({ events }: Connected, id: string | undefined) =>
      events.filter((event) => event.type === 'agent_settled' && event.runId === id).length;
    for (const each of [client, owner]) await expect.poll(() => hasSettled(each, runId)).toBe(1);

    expect([client, owner].map((each) => hasSettled(each, accepted.runId))).toEqual([1, 1]);
    const fresh = connect(b.socketUrl, { session: client.session.sessionId });
    await fresh.session.ping();
    for (const each of [client, owner]) expect(each.view().messages).toEqual(fresh.view().messages);
    expect([...(await storedPrompts(client.session.sessionId))].sort()).toEqual([
      'one',
      'queued',
      'tell me a story',
      'typed meanwhile',
    ]);
  },
);

it('[W164 W165] a client that loses the node between it and the owner resumes its run where it was', async () => {
  const gate = newGate();
  const long = { steps: [{ text: 'Half of ' }, { await: gate.path }, { text: 'it.' }], when: '^go', keep: true };
  const { a, b, cwd } = await startTwo(['between', 'owner'], [long]);
  const owner = connect(b.socketUrl, { cwd });
  await owner.session.promptAndWait('one');
  const client = connect([a.socketUrl, b.socketUrl], { session: owner.session.sessionId });
  const run = client.session.promptAndWait('go');
  await expect.poll(() => client.events.some(({ type }) => type === 'message_update')).toBe(true);

  killNode(a);
  await reached(client.session, 'reconnecting');
  gate.open();

  expect((await run).settled).toMatchObject({ outcome: 'ok' });
  const greetings = client.events.filter(({ type }) => type === 'server_connected');
  expect(greetings).toMatchObject([{}, { resume: 'ok' }]);
  await client.session.ping();
  await owner.session.ping();
  expect(client.view().messages).toEqual(owner.view().messages);
  expect(client.view().messages.at(-1)).toMatchObject({ content: [{ text: 'Half of it.' }] });
});

it('[W165] a session whose node dies in its first run, or before it, is found by the next node', async () => {
  const { a, b, cwd } = await startTwo(['first-run', 'second-run']);
  const client = connect([a.socketUrl, b.socketUrl], { cwd });
  const empty = connect([a.socketUrl, b.socketUrl], { cwd });
  await reached(empty.session, 'open');
  const id = empty.session.sessionId;
  const run = client.session.promptAndWait('tell me a story');
  await expect.poll(() => client.events.some(({ type }) => type === 'message_update')).toBe(true);

  killNode(a);

  const { accepted, settled } = await run;
  expect(settled).toMatchObject({ errorCode: 'interrupted', runId: accepted.runId });
  await client.session.promptAndWait('two');
  expect(await storedPrompts(client.session.sessionId)).toEqual(['tell me a story', 'two']);
  await empty.session.promptAndWait('one');
  expect(empty.session.sessionId).toBe(id);
  expect(await storedPrompts(id)).toEqual(['one']);
});

it('[W164 W165] a client leaves a node that stops for the next one', async () => {
  const { a, b, cwd } = await startTwo(['stops', 'stays']);
  const client = connect([a.socketUrl, b.socketUrl], { cwd });
  await client.session.promptAndWait('one');
  const codes: (number | undefined)[] = [];
  client.session.onState(({ state, code }) => state === 'reconnecting' && codes.push(code));

  const stopped = a.stop();
  await reached(client.session, 'reconnecting');
  await client.session.promptAndWait('two');
  await stopped;

  expect(codes[0]).toBe(1012);
  expect(await storedPrompts(client.session.sessionId)).toEqual(['one', 'two']);
});

it('[W165] a dialog ends at its client when its node dies, and is not shown again', async () => {
  const asks = "pi.on('tool_call', async (event, ctx) => { await ctx.ui.confirm('Allow it?', ''); });";
  const { home } = homeWithCommands({}, asks);
  const work = { steps: [{ toolCall: { name: 'bash', arguments: { command: 'true' } } }], when: '^work', keep: true };
  const options = { cwd: home.cwd, script: [work, ...script], args: ONE_REPLICA };
  const [a, b] = await Promise.all([
    startNode(cluster.server.url, 'dialog-a', { home, ...options }),
    startNode(cluster.server.url, 'dialog-b', options),
  ]);
  const { session, view } = connect([a.socketUrl, b.socketUrl], { cwd: home.cwd });
  const shown: AbortSignal[] = [];
  session.onUiRequest((_, { signal }) => {
    shown.push(signal);
    return new Promise(() => {});
  });
  const run = session.promptAndWait('work');
  await expect.poll(() => shown.length).toBe(1);

  killNode(a);

  expect((await run).settled).toMatchObject({ errorCode: 'interrupted' });
  await expect.poll(() => shown.map(({ aborted }) => aborted)).toEqual([true]);
  expect(view().dialogs).toEqual([]);
  expect(view().messages.filter(({ role }) => role === 'toolResult')).toMatchObject([{ isError: true }]);
});

it('[W164] a client starts at the second address when the first is dead', async () => {
  const { a, b, cwd } = await startTwo(['dead', 'alive']);
  killNode(a);
  const client = connect([a.socketUrl, b.socketUrl], { cwd });
  await client.session.promptAndWait('one');

  expect(await storedPrompts(client.session.sessionId)).toEqual(['one']);
});

it('[W164] a client whose addresses are all dead ends with one error, without its token', async () => {
  const urls = ['ws://127.0.0.1:1/session', 'ws://127.0.0.1:2/session'];
  const session = connectRemote(urls, { token: TARGET_TOKEN, reconnection: { maxRetries: 1, initialDelayMs: 1 } });

  const error = await session.promptAndWait('hello').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ConnectionLost', message: expect.stringContaining('ECONNREFUSED') });
  expect(String(error)).not.toContain(TARGET_TOKEN);
});

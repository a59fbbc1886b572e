import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';
import { bash, fixture, homeWithCommands, userExtension } from '../../support/agent/extensions.ts';
import { newGate, newHome, readSessionFile, writeSettings } from '../../support/agent/test-agent.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { filterAlive, waitUntil } from '../../support/processes/processes.ts';
import { startServer, type TestServer } from '../../support/server/test-server.ts';
import { hostTool } from '../../support/tools/host-tools.ts';
import { SLEEP_FOREVER } from '../../support/tools/shell-commands.ts';

const NEXT = { text: 'Going on.', when: '^next', keep: true };
const ENDS = ['server_error', 'agent_end', 'agent_settled', 'state_synced'];

/** Kills the agent and returns the records of each client up to the next snapshot. */
async function crash(server: TestServer, ...peers: readonly RemotePeer[]) {
  const offsets = peers.map(({ records }) => records.length);
  server.killAgent();
  return Promise.all(
    peers.map(async (peer, index) => {
      const synced = await peer.find(
        (record) => record.type === 'state_synced' && peer.records.indexOf(record) >= (offsets[index] ?? 0),
      );
      const received = peer.records.slice(offsets[index], peer.records.indexOf(synced) + 1);
      return received.filter(({ type }) => type !== 'response');
    }),
  );
}

const types = (records: readonly { type: string }[]) => records.map(({ type }) => type);

it('[W52] an agent that dies while idle is restarted, and the session continues', async () => {
  const server = await startServer({ script: [NEXT] });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });
  await first.run('next');
  await second.next('agent_settled');

  for (const received of await crash(server, first, second)) {
    expect(types(received)).toEqual(['server_error', 'state_synced']);
    expect(received[0]).toMatchObject({ error: 'Pi process terminated (SIGKILL)' });
    expect((received[1] as unknown as Synced).messages).toHaveLength(2);
  }
  expect(await second.run('next')).toContainEqual(expect.objectContaining({ type: 'agent_settled', outcome: 'ok' }));
});

it('[W52] an agent that dies before the first message keeps its session', async () => {
  const server = await startServer({ script: [NEXT] });
  const peer = await server.attach();

  await crash(server, peer);

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: peer.cursor.session, messageCount: 0 });
  await peer.run('next');
});

it('[W52] a crash during a model response settles the run once with an error and keeps each accepted message once', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^Hi' }, NEXT],
  });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session, stream: 'delta' });
  const { runId } = await first.ok({ type: 'prompt', message: 'Hi', clientMessageId: 'mine' });
  await Promise.all([first.next('message_update'), second.next('message_update')]);
  const { queueId } = await second.ok({ type: 'follow_up', message: 'next: later', clientMessageId: 'queued' });

  for (const received of await crash(server, first, second)) {
    expect(types(received).filter((type) => ENDS.includes(type))).toEqual(ENDS);
    expect(received.find(({ type }) => type === 'agent_settled')).toMatchObject({
      runId,
      outcome: 'error',
      errorCode: 'interrupted',
      clientMessageIds: ['mine'],
    });
    const synced = received.find(({ type }) => type === 'state_synced') as unknown as Synced;
    expect(synced.messages.map(({ role }) => role)).toEqual(['user']);
    expect(synced.state).toMatchObject({ isStreaming: false, queuedMessages: [{ id: queueId, text: 'next: later' }] });
  }
  expect(await first.ok({ type: 'prompt', message: 'next: later', clientMessageId: 'queued' })).toMatchObject({
    duplicate: true,
    disposition: 'queued',
  });
  const records = await second.run('next');
  expect(records.at(-1)).toMatchObject({ outcome: 'ok', clientMessageIds: ['queued'] });
  const { sessionFile } = await second.ok({ type: 'get_state' });
  const texts = readSessionFile(sessionFile)
    .filter(({ message }) => message?.role === 'user')
    .map(({ message }) => message.content[0].text);
  expect(texts).toEqual(['Hi', 'next', 'next: later']);
});

it('[W52] agent_settled after a crash names the queued messages that the run had consumed', async () => {
  const gates = [newGate(), newGate()] as const;
  const script = [
    { steps: [{ await: gates[0].path }, { text: 'One.' }] },
    { steps: [{ text: 'Two ' }, { await: gates[1].path }] },
  ];
  const server = await startServer({ script });
  const peer = await server.attach();
  await peer.ok({ type: 'prompt', message: 'Hi', clientMessageId: 'a' });
  await peer.ok({ type: 'steer', message: 'Wait', clientMessageId: 'b' });
  gates[0].open();
  await peer.next(({ assistantMessageEvent: step }) => (step as { delta?: string } | undefined)?.delta === 'Two ');

  const [received = []] = await crash(server, peer);

  expect(received.find(({ type }) => type === 'agent_settled')).toMatchObject({ clientMessageIds: ['a', 'b'] });
});

it('[W132] agent_settled after a crash names a message that was queued while the extensions started', async () => {
  const home = newHome();
  const gate = newGate();
  writeSettings(home, { startWaitMs: 1 });
  userExtension(
    home,
    'ask.ts',
    `export default (pi) => pi.on('session_start', async (event, ctx) => { await ctx.ui.confirm('Start?', ''); });`,
  );
  const server = await startServer({ home, script: [{ steps: [{ text: 'One ' }, { await: gate.path }] }] });
  const peer = await server.attach();
  const ask = (clientMessageId: string) => ({ message: clientMessageId, clientMessageId });

  await peer.ok({ type: 'prompt', ...ask('kept') });
  const { queueId } = await peer.ok({ type: 'follow_up', ...ask('withdrawn') });
  await peer.ok({ type: 'remove_queued', queueId });
  const { id } = await peer.next('extension_ui_request');
  peer.send({ type: 'extension_ui_response', id, confirmed: true });
  await peer.next('message_update');
  const [received = []] = await crash(server, peer);

  expect(received.find(({ type }) => type === 'agent_settled')).toMatchObject({
    errorCode: 'interrupted',
    runId: expect.stringMatching(/./),
    clientMessageIds: ['kept'],
  });
});

it('[W52] a crash while a tool runs kills the tool and stores a result for its call', async () => {
  const server = await startServer({ script: [{ ...bash(SLEEP_FOREVER), when: '^Hi' }, NEXT] });
  const peer = await server.attach();
  const { runId } = await peer.ok({ type: 'prompt', message: 'Hi' });
  const { partialResult } = await peer.next(
    ({ type, partialResult: result }) => type === 'tool_execution_update' && /\d+ \d+/.test(JSON.stringify(result)),
  );
  const pids = /(\d+) (\d+)/.exec(partialResult.content[0].text)?.slice(1).map(Number) ?? [];

  const [received = []] = await crash(server, peer);

  expect(types(received).filter((type) => ENDS.includes(type))).toEqual(ENDS);
  expect(received.filter(({ type }) => type === 'agent_settled')).toMatchObject([{ runId, errorCode: 'interrupted' }]);
  expect(pids).toHaveLength(2);
  await waitUntil(async () => (await filterAlive(pids)).length === 0);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'toolResult']);
  await peer.run('next');
});

it('[W52] a crash resolves an open dialog for all clients', async () => {
  const server = await startServer({ script: [NEXT], agentArgs: ['-e', fixture('dialogs')] });
  const peer = await server.attach();
  await peer.ok({ type: 'prompt', message: '/interview' });
  const { id } = await peer.next('extension_ui_request');

  const [received = []] = await crash(server, peer);

  expect(types(received)).toEqual(['server_error', 'extension_ui_resolved', 'state_synced']);
  expect(received[1]).toMatchObject({ id, by: 'abort' });
  peer.send({ type: 'extension_ui_response', id, value: 'red' });
  await peer.run('next');
});

it('[W52] a crash while a run waits for a dialog ends both', async () => {
  const server = await startServer({
    script: [{ ...bash('rm -rf nothing'), when: '^Hi' }, NEXT],
    agentArgs: ['-e', fixture('tool-call-gate')],
  });
  const peer = await server.attach();
  const { runId } = await peer.ok({ type: 'prompt', message: 'Hi' });
  await peer.next('extension_ui_request');

  const [received = []] = await crash(server, peer);

  expect(types(received).filter((type) => !ENDS.includes(type))).toContain('extension_ui_resolved');
  expect(types(received).filter((type) => ENDS.includes(type))).toEqual(ENDS);
  expect(received.filter(({ type }) => type === 'agent_settled')).toMatchObject([{ runId, errorCode: 'interrupted' }]);
  await peer.run('next');
});

it('[W52] a crash during a compaction leaves the conversation unchanged', async () => {
  const gate = newGate();
  const home = fastRetryHome();
  const script = [{ text: 'One.' }, { text: 'Two.' }, { steps: [{ await: gate.path }, { text: 'Summary.' }] }];
  const server = await startServer({ home, script });
  const peer = await server.attach();
  await peer.run(`first ${FILLER}`);
  await peer.run(`second ${FILLER}`);
  const compact = peer.refused({ type: 'compact' });
  await peer.next('compaction_start');

  const [received = []] = await crash(server, peer);

  expect(received.filter(({ type }) => type === 'compaction_end')).toMatchObject([{ aborted: true, willRetry: false }]);
  expect(await compact).toMatchObject({ error: 'Pi process terminated before it answered' });
  const synced = received.at(-1) as unknown as Synced;
  expect(synced.state).toMatchObject({ isCompacting: false });
  expect(synced.messages).toHaveLength(4);
  await peer.run('And?');
});

it('[W52] a client that was disconnected during the crash gets agent_settled on resume', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^Hi' }, NEXT],
  });
  const first = await server.attach({ stream: 'delta' });
  const second = await server.attach({ session: first.cursor.session, stream: 'delta' });
  const { runId } = await first.ok({ type: 'prompt', message: 'Hi' });
  await second.next('message_update');
  const { cursor } = second;
  second.socket.terminate();
  await crash(server, first);

  const resumed = await server.attach({ ...cursor, stream: 'delta' });

  expect(resumed.records[0]).toMatchObject({ resume: 'ok' });
  expect(resumed.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([
    { runId, errorCode: 'interrupted' },
  ]);
  expect(types(resumed.records).slice(-1)).toEqual(['state_synced']);
  await resumed.run('next');
});

it('[W52] a crash clears the statuses and widgets of its extensions', async () => {
  const show = `ctx.ui.setStatus('mood', 'fine'); ctx.ui.setWidget('list', ['one'])`;
  const { home } = homeWithCommands({ show });
  const server = await startServer({ home, script: [NEXT] });
  const peer = await server.attach();
  await peer.ok({ type: 'prompt', message: '/show' });
  await peer.next('extension_ui_request');
  await peer.next('extension_ui_request');

  const [received = []] = await crash(server, peer);

  const clears = received.filter(({ type }) => type === 'extension_ui_request');
  expect(clears).toMatchObject([
    { method: 'setStatus', statusKey: 'mood' },
    { method: 'setWidget', widgetKey: 'list' },
  ]);
  for (const clear of clears) expect(clear).not.toMatchObject({ statusText: 'fine' });
  const late = await server.attach({ session: peer.cursor.session });
  await late.ok({ type: 'get_state' });
  expect(late.eventTypes).not.toContain('extension_ui_request');
});

it('[W52 P45] a message accepted before the crash is shown once, though it is sent again when its run starts', async () => {
  const gate = newGate();
  const script = [{ steps: [{ await: gate.path }, { text: 'Now.' }], when: '^Hi', keep: true }];
  const server = await startServer({ script });
  const peer = await server.attach({ stream: 'delta' });
  const prompt = { type: 'prompt', message: 'Hi', clientMessageId: 'mine' };
  await peer.ok(prompt);
  await peer.next('message_end');
  await crash(server, peer);

  gate.open();
  expect(await peer.ok(prompt)).toMatchObject({ disposition: 'started', duplicate: true });
  await peer.next(({ type, outcome }) => type === 'agent_settled' && outcome === 'ok');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toHaveLength(2);
  const view = peer.records.reduce((view, record) => reduce(view, record as unknown as AgentEvent), emptyView);
  expect(view.messages).toEqual(messages);
});

it('[W52] host tools and entry subscriptions survive a crash', async () => {
  const server = await startServer({ script: [NEXT] });
  const peer = await server.attach({ entries: 1 });
  const tools = [{ name: 'mine', description: 'Mine', parameters: { type: 'object', properties: {} } }];
  await peer.ok({ type: 'set_host_tools', tools });

  await crash(server, peer);

  expect((await peer.ok({ type: 'get_state' })).activeTools).toContain('mine');
  const records = await peer.run('next');
  expect(types(records)).toContain('entry_appended');
});

it('[W52] a client that was disconnected during the crash gets entries after it resumes', async () => {
  const server = await startServer({ script: [NEXT] });
  const stayer = await server.attach();
  await stayer.run('next');
  const { session } = stayer.cursor;
  const reader = await server.attach({ session, entries: 1, stream: 'delta' });
  await reader.run('next');
  const { cursor } = reader;
  await reader.disconnect();
  await crash(server, stayer);

  const resumed = await server.attach({ ...cursor, entries: 1, stream: 'delta' });

  expect(types(await resumed.run('next'))).toContain('entry_appended');
});

it('[W35 W52] pending set_host_tools commands are answered after a crash, and the next agent takes new tools', async () => {
  const server = await startServer({ script: [NEXT] });
  const peers = [await server.attach()];
  for (let more = 0; more < 2; more++) peers.push(await server.attach({ session: peers[0]?.cursor.session ?? '' }));
  const [first, second, third] = peers as [RemotePeer, RemotePeer, RemotePeer];
  const hostToolsCommand = (name: string) => ({ type: 'set_host_tools', tools: [hostTool(name)] });
  process.kill(server.agents().at(-1)?.pid ?? Number.NaN, 'SIGSTOP');
  const responses = [first.request(hostToolsCommand('one')), second.request(hostToolsCommand('two'))];
  await Promise.all([first.ok({ type: 'ping' }), second.ok({ type: 'ping' })]);

  await crash(server, third);

  expect(await Promise.all(responses)).toHaveLength(2);
  await third.ok(hostToolsCommand('three'));
  expect((await third.ok({ type: 'get_state' })).activeTools).toContain('three');
});

interface Synced {
  readonly state: Readonly<Record<string, unknown>>;
  readonly messages: readonly { readonly role: string }[];
}

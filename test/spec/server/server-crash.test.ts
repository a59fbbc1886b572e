import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import { bash } from '../../support/agent/extensions.ts';
import { newGate, openTestAgent, readSessionFile, sessionFiles } from '../../support/agent/test-agent.ts';
import { filterAlive, waitUntil } from '../../support/processes/processes.ts';
import { itOnOneServer, startServer } from '../../support/server/test-server.ts';
import { SLEEP_FOREVER } from '../../support/tools/shell-commands.ts';

const NEXT = { text: 'Going on.', when: '^next', keep: true };

it('[W54] after a server crash a resuming client gets the end of its run once', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^Hi' }, NEXT];
  const server = await startServer({ script });
  const first = await server.attach({ stream: 'delta' });
  const { runId } = await first.ok({ type: 'prompt', message: 'Hi', clientMessageId: 'mine' });
  await first.next('message_update');
  await first.ok({ type: 'follow_up', message: 'next: queued', clientMessageId: 'queued' });
  const { cursor } = first;
  server.kill('SIGKILL');
  await server.exited;

  const restarted = await startServer({ home: server.home, script });
  const resumed = await restarted.attach({ ...cursor, stream: 'delta' });
  await resumed.ok({ type: 'get_state' });
  const newClient = await restarted.attach({ session: cursor.session });
  await newClient.ok({ type: 'get_state' });

  expect(resumed.records[0]).toMatchObject({ type: 'server_connected', sessionId: cursor.session, resume: 'gap' });
  expect(resumed.cursor.epoch).not.toBe(cursor.epoch);
  const settled = { runId, outcome: 'error', errorCode: 'interrupted', clientMessageIds: ['mine'] };
  expect(resumed.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([settled]);
  expect(newClient.eventTypes).not.toContain('agent_settled');
  const synced = await resumed.find('state_synced');
  expect(synced).toMatchObject({ state: { isIdle: true, queuedMessages: [{ text: 'next: queued' }] } });

  expect((await resumed.run('next')).at(-1)).toMatchObject({ outcome: 'ok', clientMessageIds: ['queued'] });
  const { sessionFile } = await resumed.ok({ type: 'get_state' });
  const userMessages = readSessionFile(sessionFile).filter(({ message }) => message?.role === 'user');
  expect(userMessages.map(({ message }) => message.content[0].text)).toEqual(['Hi', 'next', 'next: queued']);
});

it('[W54] a run that settled before the crash is not settled again', async () => {
  const server = await startServer({ script: [NEXT] });
  const first = await server.attach();
  await first.run('next');
  server.kill('SIGKILL');
  await server.exited;

  const restarted = await startServer({ home: server.home, script: [NEXT] });
  const resumed = await restarted.attach(first.cursor);
  await resumed.ok({ type: 'get_state' });

  expect(resumed.eventTypes).toEqual(['server_connected', 'state_synced']);
  expect(resumed.records[0]).toMatchObject({ resume: 'gap' });
});

/** A server with a running prompt, its cursor, and functions to kill and restart it. */
async function killableServer() {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^Hi' }, NEXT];
  const server = await startServer({ script });
  const first = await server.attach({ stream: 'delta' });
  const { runId } = await first.ok({ type: 'prompt', message: 'Hi' });
  await first.next('message_update');
  const kill = async () => {
    server.kill('SIGKILL');
    await server.exited;
    await waitUntil(async () => (await filterAlive(server.agents().map(({ pid }) => pid))).length === 0);
  };
  const restarted = () => startServer({ home: server.home, script });
  return { home: server.home, cursor: first.cursor, runId, kill, restarted };
}

const settledEvents = ({ records }: { records: readonly { type: string }[] }) =>
  records.filter(({ type }) => type === 'agent_settled');

itOnOneServer('another program uses the file')(
  '[W54 W58] the interrupted end is sent even if another process held the session at the first attempt',
  async () => {
    const { home, cursor, runId, kill, restarted } = await killableServer();
    await kill();
    const [file = ''] = sessionFiles(home);
    const holder = await openTestAgent('stdio', { home, args: ['--session', file] });
    await holder.peer.ok({ type: 'get_state' });
    const server = await restarted();
    expect(await server.connect({ ...cursor, stream: 'delta' }).ended).toMatchObject({ code: 4409 });
    await holder.close();

    const resumed = await server.attach({ ...cursor, stream: 'delta' });
    await resumed.ok({ type: 'get_state' });

    expect(settledEvents(resumed)).toMatchObject([{ runId, errorCode: 'interrupted' }]);
  },
);

itOnOneServer('a second server opens the session in a cluster')(
  '[W54 W58] the interrupted end is sent even if another server tried the session meanwhile',
  async () => {
    const { cursor, runId, kill, restarted } = await killableServer();
    const other = await restarted();
    expect(await other.connect({ session: cursor.session }).ended).toMatchObject({ code: 4409 });
    await kill();

    const resumed = await other.attach({ ...cursor, stream: 'delta' });
    await resumed.ok({ type: 'get_state' });

    expect(settledEvents(resumed)).toMatchObject([{ runId, errorCode: 'interrupted' }]);
  },
);

it('[W54] the interrupted end precedes the snapshot, so that a newer run is shown as running', async () => {
  const { cursor, runId, kill, restarted } = await killableServer();
  await kill();
  const server = await restarted();
  const other = await server.attach({ session: cursor.session, stream: 'delta' });
  await other.ok({ type: 'prompt', message: 'Hi' });
  await other.next('message_update');

  const resumed = await server.attach({ ...cursor, stream: 'delta' });
  await resumed.next(({ assistantMessageEvent: step }) => (step as { delta?: string } | undefined)?.delta === 'Well, ');

  expect(resumed.eventTypes.slice(0, 3)).toEqual(['server_connected', 'agent_settled', 'state_synced']);
  expect(settledEvents(resumed)).toMatchObject([{ runId }]);
  const view = resumed.records.reduce((seen, record) => reduce(seen, record as unknown as AgentEvent), emptyView);
  expect(view).toMatchObject({ running: true, streamingMessage: { content: [{ text: 'Well, ' }] } });
});

it('[W54] the interrupted end is sent even if the next server is killed before it sent it', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^Hi' }, NEXT];
  const server = await startServer({ script });
  const first = await server.attach();
  const { runId } = await first.ok({ type: 'prompt', message: 'Hi' });
  const { cursor } = first;
  server.kill('SIGKILL');
  await server.exited;
  const between = await startServer({ home: server.home, script });
  await between.attach({ session: cursor.session });
  between.kill('SIGKILL');
  await between.exited;

  const restarted = await startServer({ home: server.home, script });
  const resumed = await restarted.attach(cursor);

  expect(resumed.eventTypes).toEqual(['server_connected', 'agent_settled', 'state_synced']);
  expect(resumed.records[1]).toMatchObject({ runId, outcome: 'error', errorCode: 'interrupted' });
});

it('[W54] the end of a run that the client missed is sent unchanged after a restart', async () => {
  const gate = newGate();
  const server = await startServer({ script: [{ steps: [{ await: gate.path }, { text: 'Done.' }] }] });
  const first = await server.attach();
  const other = await server.attach({ session: first.cursor.session });
  const { runId } = await first.ok({ type: 'prompt', message: 'Hi' });
  const { cursor } = first;
  first.socket.terminate();
  gate.open();
  await other.next('agent_settled');
  server.kill('SIGKILL');
  await server.exited;

  const restarted = await startServer({ home: server.home });
  const resumed = await restarted.attach(cursor);

  expect(resumed.eventTypes).toEqual(['server_connected', 'agent_settled', 'state_synced']);
  expect(resumed.records[1]).toMatchObject({ runId, outcome: 'ok' });
});

it('[W55] when a server is killed, its agents and their tools end', async () => {
  const server = await startServer({ script: [{ ...bash(SLEEP_FOREVER), when: '^Hi' }, NEXT] });
  const idle = await server.attach();
  await idle.run('next');
  const busy = await server.attach();
  await busy.ok({ type: 'prompt', message: 'Hi' });
  const { partialResult } = await busy.next(
    ({ type, partialResult: result }) => type === 'tool_execution_update' && /\d+ \d+/.test(JSON.stringify(result)),
  );
  const tools = partialResult.content[0].text.match(/\d+/g).map(Number);
  const agents = server.agents().map(({ pid }) => pid);
  expect(await filterAlive([...agents, ...tools])).toHaveLength(4);

  server.kill('SIGKILL');
  await server.exited;

  await waitUntil(async () => (await filterAlive([...agents, ...tools])).length === 0);
});

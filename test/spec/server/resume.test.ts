import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';
import { bash, homeWithCommands, waitForFileCode } from '../../support/agent/extensions.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { outline } from '../../support/clients/peer.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer } from '../../support/server/test-server.ts';
import { waitForFileCommand } from '../../support/tools/shell-commands.ts';

const DELTAS = { stream: 'delta', legacyNames: 0 };

it('[W31] a client that resumes with its cursor gets the missed events and none twice', async () => {
  const gates = [newGate(), newGate()] as const;
  const steps = [
    { text: 'One ' },
    { await: gates[0].path },
    { text: 'two ' },
    { await: gates[1].path },
    { text: 'three.' },
  ];
  const server = await startServer({ script: [{ steps }] });
  const continuous = await server.attach(DELTAS);
  const first = await server.attach({ session: continuous.cursor.session, ...DELTAS });
  await continuous.ok({ type: 'prompt', message: 'Hi' });
  await first.next(delta('One '));
  const { cursor } = first;
  first.socket.terminate();
  gates[0].open();
  await continuous.next(delta('two '));

  const second = server.connect({ ...cursor, ...DELTAS });
  await second.next(delta('two '));
  gates[1].open();
  await Promise.all([continuous.next('agent_settled'), second.next('agent_settled')]);

  expect(second.records[0]).toMatchObject({
    type: 'server_connected',
    resume: 'ok',
    seq: cursor.after,
    epoch: cursor.epoch,
  });
  expect(second.eventTypes).not.toContain('state_synced');
  expect(viewOf(first, second)).toEqual(viewOf(continuous));
  expect(seqs(second)).toEqual(seqs(continuous).filter((seq) => seq > cursor.after));
});

it('[W31] a client that missed nothing gets no events on resume', async () => {
  const server = await startServer({ script: [{ text: 'Hello.', when: '.', keep: true }] });
  const first = await server.attach();
  await first.run('Hi');

  const second = server.connect(first.cursor);
  await second.ok({ type: 'get_state' });

  expect(second.eventTypes).toEqual(['server_connected']);
  expect(second.records[0]).toMatchObject({ resume: 'ok' });
});

it('[W31] a cursor of another epoch, another session or the future leads to a snapshot', async () => {
  const server = await startServer({ script: [{ text: 'Hello.', when: '.', keep: true }] });
  const first = await server.attach(DELTAS);
  await first.run('Hi');
  const other = await server.attach(DELTAS);
  const { session, epoch, after } = first.cursor;

  const invalidCursors = [
    { epoch: 'another', after },
    { epoch, after: after + 1 },
    { epoch: other.cursor.epoch, after: 0 },
  ];
  for (const cursor of invalidCursors) {
    const peer = await server.attach({ session, ...cursor, ...DELTAS });
    expect(peer.records[0]).toMatchObject({ type: 'server_connected', resume: 'gap', epoch, seq: after });
    expect(viewOf(peer).messages).toEqual(viewOf(first).messages);
  }
  const withoutEpoch = await server.attach({ session, after });
  expect(withoutEpoch.records[0]).not.toHaveProperty('resume');
});

it('[W31] a cursor older than the journal leads to a snapshot', async () => {
  const server = await startServer({ script: [{ text: 'Fine.', when: '.', keep: true }] });
  const first = await server.attach(DELTAS);
  await first.run('one');
  const { cursor } = first;
  for (const letter of ['a', 'b', 'c']) await first.run(letter.repeat(1_000_000));

  const second = await server.attach({ ...cursor, ...DELTAS });

  expect(second.records[0]).toMatchObject({ resume: 'gap' });
  expect(viewOf(second).messages).toEqual(viewOf(first).messages);
});

it('[W80] a client that resumes right after compaction_end gets the new conversation', async () => {
  const server = await startServer({
    home: fastRetryHome(),
    script: ['One.', 'Two.', 'Summary.'].map((text) => ({ text })),
  });
  const first = await server.attach(DELTAS);
  await first.run(`first ${FILLER}`);
  await first.run(`second ${FILLER}`);
  await first.ok({ type: 'compact' });
  const { seq: after } = (await first.find('compaction_end')) as unknown as { seq: number };

  const second = await server.attach({ ...first.cursor, after, ...DELTAS });

  expect(second.records[0]).toMatchObject({ resume: 'ok' });
  expect(viewOf(second).messages[0]).toMatchObject({ role: 'compactionSummary' });
});

it('[W31] a cumulative client that resumes during a model response gets a snapshot', async () => {
  const gate = newGate();
  const server = await startServer({ script: [{ steps: [{ text: 'One ' }, { await: gate.path }, { text: 'two.' }] }] });
  const first = await server.attach();
  await first.ok({ type: 'prompt', message: 'Hi' });
  await first.next(delta('One '));
  const { cursor } = first;
  first.socket.terminate();

  const second = server.connect(cursor);
  await second.next(delta('One '));
  gate.open();
  const { message } = await second.next(
    ({ type, message }) => type === 'message_end' && (message as { role: string }).role === 'assistant',
  );

  expect(second.records[0]).toMatchObject({ resume: 'gap' });
  expect(message.content).toEqual([{ type: 'text', text: 'One two.' }]);
});

it('[W32] a client that attaches during a model response gets its blocks so far, then the rest', async () => {
  const gate = newGate();
  const steps = [
    { thinking: 'Let me think.' },
    { text: 'Word by word by word ' },
    { toolCall: { name: 'bash', arguments: { command: 'echo hi' } }, chunks: 4, await: gate.path },
  ];
  const server = await startServer({ script: [{ steps }, { text: 'Done.' }], agentArgs: ['--thinking', 'high'] });
  const continuous = await server.attach(DELTAS);
  await continuous.ok({ type: 'prompt', message: 'Hi' });
  await continuous.next(
    ({ type, assistantMessageEvent: step }) =>
      type === 'message_update' && (step as { type: string }).type === 'toolcall_delta',
  );

  const deltas = await server.attach({ session: continuous.cursor.session, ...DELTAS });
  const cumulative = await server.attach({ session: continuous.cursor.session });
  await Promise.all([deltas, cumulative].map((peer) => peer.find('message_update')));
  gate.open();
  await Promise.all([continuous, deltas, cumulative].map((peer) => peer.next('agent_settled')));

  for (const peer of [deltas, cumulative]) {
    const responseRecords = peer.records.slice(peer.records.findIndex(({ type }) => type === 'message_start'));
    expect(responseRecords[0]).toMatchObject({ message: { role: 'assistant', content: [] } });
    expect(outline(responseRecords).slice(0, 9)).toEqual([
      'message_start',
      'message_update:start',
      'message_update:thinking_start',
      'message_update:thinking_delta',
      'message_update:thinking_end',
      'message_update:text_start',
      'message_update:text_delta',
      'message_update:text_end',
      'message_update:toolcall_start',
    ]);
    expect(viewOf(peer)).toEqual(viewOf(continuous));
  }
});

it('[W32] a client that attaches while a tool runs gets its start and its output so far', async () => {
  const gate = newGate();
  const server = await startServer({ script: [bash(waitForFileCommand(gate.path)), { text: 'Done.' }] });
  const continuous = await server.attach(DELTAS);
  await continuous.ok({ type: 'prompt', message: 'Hi' });
  await continuous.next(
    ({ type, partialResult }) => type === 'tool_execution_update' && JSON.stringify(partialResult).includes('begun'),
  );

  const late = await server.attach({ session: continuous.cursor.session, ...DELTAS });
  await late.next('tool_execution_start');
  expect(await late.next('tool_execution_update')).toMatchObject({ partialResult: { content: [{ text: 'begun\n' }] } });
  gate.open();
  await Promise.all([continuous, late].map((peer) => peer.next('agent_settled')));

  expect(viewOf(late)).toEqual(viewOf(continuous));
});

it('[W26 W32] a client that attaches between acceptance and start of a message gets it once', async () => {
  const gate = newGate();
  const { home } = homeWithCommands(
    {},
    `pi.on('before_agent_start', async () => { ${waitForFileCode(`'${gate.path}'`)} });`,
  );
  const server = await startServer({ home, script: [{ text: 'Done.' }] });
  const continuous = await server.attach(DELTAS);
  await continuous.ok({ type: 'prompt', message: 'Hi' });

  const late = await server.attach({ session: continuous.cursor.session, ...DELTAS });
  gate.open();
  await Promise.all([continuous, late].map((peer) => peer.next('agent_settled')));

  expect(viewOf(continuous).messages).toHaveLength(2);
  expect(viewOf(late)).toEqual(viewOf(continuous));
});

const delta = (text: string) => (record: Record<string, unknown>) =>
  JSON.stringify(record['assistantMessageEvent'] ?? '').includes(`"${text}`);

/** The state that a client shows after the records of these connections. */
const viewOf = (...peers: readonly RemotePeer[]) =>
  peers
    .flatMap(({ records }) => records)
    .reduce((view, record) => reduce(view, record as unknown as AgentEvent), emptyView);

const seqs = ({ records }: RemotePeer) =>
  records
    .filter(({ type }) => type !== 'server_connected')
    .flatMap(({ seq }) => (typeof seq === 'number' ? [seq] : []));

import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import { bash, homeWithCommands, waitForFileCode } from '../../support/agent/extensions.ts';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { outline } from '../../support/clients/peer.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer } from '../../support/server/test-server.ts';
import { waitForFileCommand } from '../../support/tools/shell-commands.ts';

const DELTAS = { stream: 'delta', legacyNames: 0 };

it('[W31] a client that comes back with its cursor is told what it has missed, and nothing twice', async () => {
  const gates = [newGate(), newGate()] as const;
  const steps = [
    { text: 'One ' },
    { await: gates[0].path },
    { text: 'two ' },
    { await: gates[1].path },
    { text: 'three.' },
  ];
  const server = await startServer({ script: [{ steps }] });
  const whole = await server.attach(DELTAS);
  const first = await server.attach({ session: whole.cursor.session, ...DELTAS });
  await whole.ok({ type: 'prompt', message: 'Hi' });
  await first.next(delta('One '));
  const { cursor } = first;
  first.socket.terminate();
  gates[0].open();
  await whole.next(delta('two '));

  const second = server.connect({ ...cursor, ...DELTAS });
  await second.next(delta('two '));
  gates[1].open();
  await Promise.all([whole.next('agent_settled'), second.next('agent_settled')]);

  expect(second.records[0]).toMatchObject({
    type: 'server_connected',
    resume: 'ok',
    seq: cursor.after,
    epoch: cursor.epoch,
  });
  expect(second.eventTypes).not.toContain('state_synced');
  expect(viewOf(first, second)).toEqual(viewOf(whole));
  expect(seqs(second)).toEqual(seqs(whole).filter((seq) => seq > cursor.after));
});

it('[W31] one that has missed nothing is told so, also between runs', async () => {
  const server = await startServer({ script: [{ text: 'Hello.', when: '.', keep: true }] });
  const first = await server.attach();
  await first.run('Hi');

  const second = server.connect(first.cursor);
  await second.ok({ type: 'get_state' });

  expect(second.eventTypes).toEqual(['server_connected']);
  expect(second.records[0]).toMatchObject({ resume: 'ok' });
});

it('[W31] a cursor of another life, of another session or from the future leads to a snapshot', async () => {
  const server = await startServer({ script: [{ text: 'Hello.', when: '.', keep: true }] });
  const first = await server.attach(DELTAS);
  await first.run('Hi');
  const other = await server.attach(DELTAS);
  const { session, epoch, after } = first.cursor;

  const wrong = [
    { epoch: 'another', after },
    { epoch, after: after + 1 },
    { epoch: other.cursor.epoch, after: 0 },
  ];
  for (const cursor of wrong) {
    const peer = await server.attach({ session, ...cursor, ...DELTAS });
    expect(peer.records[0]).toMatchObject({ type: 'server_connected', resume: 'gap', epoch, seq: after });
    expect(viewOf(peer).messages).toEqual(viewOf(first).messages);
  }
  const half = await server.attach({ session, after });
  expect(half.records[0]).not.toHaveProperty('resume');
});

it('[W31] what is no longer kept leads to a snapshot', async () => {
  const server = await startServer({ script: [{ text: 'x'.repeat(1_000_000), when: '.', keep: true }] });
  const first = await server.attach(DELTAS);
  await first.run('one');
  const { cursor } = first;
  for (const message of ['two', 'three', 'four']) await first.run(message);

  const second = await server.attach({ ...cursor, ...DELTAS });

  expect(second.records[0]).toMatchObject({ resume: 'gap' });
  expect(viewOf(second).messages).toEqual(viewOf(first).messages);
});

it('[W80] who has heard of a compaction and no more is told what it came to', async () => {
  const server = await startServer({ home: fastRetryHome(), script: ['One.', 'Two.', 'Summary.'].map((text) => ({ text })) });
  const first = await server.attach(DELTAS);
  await first.run(`first ${FILLER}`);
  await first.run(`second ${FILLER}`);
  await first.ok({ type: 'compact' });
  const { seq: after } = (await first.find('compaction_end')) as unknown as { seq: number };

  const second = await server.attach({ ...first.cursor, after, ...DELTAS });

  expect(second.records[0]).toMatchObject({ resume: 'ok' });
  expect(viewOf(second).messages[0]).toMatchObject({ role: 'compactionSummary' });
});

it('[W31] a client of the repeating form is told anew what was missed of an answer', async () => {
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

it('[W32] who comes in the middle of an answer is told its beginning, block by block, and then the rest', async () => {
  const gate = newGate();
  const steps = [
    { thinking: 'Let me think.' },
    { text: 'Word by word by word ' },
    { toolCall: { name: 'bash', arguments: { command: 'echo hi' } }, chunks: 4, await: gate.path },
  ];
  const server = await startServer({ script: [{ steps }, { text: 'Done.' }], agentArgs: ['--thinking', 'high'] });
  const whole = await server.attach(DELTAS);
  await whole.ok({ type: 'prompt', message: 'Hi' });
  await whole.next(
    ({ type, assistantMessageEvent: step }) =>
      type === 'message_update' && (step as { type: string }).type === 'toolcall_delta',
  );

  const deltas = await server.attach({ session: whole.cursor.session, ...DELTAS });
  const repeating = await server.attach({ session: whole.cursor.session });
  await Promise.all([deltas, repeating].map((peer) => peer.find('message_update')));
  gate.open();
  await Promise.all([whole, deltas, repeating].map((peer) => peer.next('agent_settled')));

  for (const peer of [deltas, repeating]) {
    const answer = peer.records.slice(peer.records.findIndex(({ type }) => type === 'message_start'));
    expect(answer[0]).toMatchObject({ message: { role: 'assistant', content: [] } });
    expect(outline(answer).slice(0, 9)).toEqual([
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
    expect(viewOf(peer)).toEqual(viewOf(whole));
  }
});

it('[W32] who comes while a tool runs is told of it, and of what it has printed', async () => {
  const gate = newGate();
  const server = await startServer({ script: [bash(waitForFileCommand(gate.path)), { text: 'Done.' }] });
  const whole = await server.attach(DELTAS);
  await whole.ok({ type: 'prompt', message: 'Hi' });
  await whole.next(
    ({ type, partialResult }) => type === 'tool_execution_update' && JSON.stringify(partialResult).includes('begun'),
  );

  const late = await server.attach({ session: whole.cursor.session, ...DELTAS });
  await late.next('tool_execution_start');
  expect(await late.next('tool_execution_update')).toMatchObject({ partialResult: { content: [{ text: 'begun\n' }] } });
  gate.open();
  await Promise.all([whole, late].map((peer) => peer.next('agent_settled')));

  expect(viewOf(late)).toEqual(viewOf(whole));
});

it('[W26 W32] who comes after a message was accepted and before it is told hears of it once', async () => {
  const gate = newGate();
  const { home } = homeWithCommands({}, `pi.on('before_agent_start', async () => { ${waitForFileCode(`'${gate.path}'`)} });`);
  const server = await startServer({ home, script: [{ text: 'Done.' }] });
  const whole = await server.attach(DELTAS);
  await whole.ok({ type: 'prompt', message: 'Hi' });

  const late = await server.attach({ session: whole.cursor.session, ...DELTAS });
  gate.open();
  await Promise.all([whole, late].map((peer) => peer.next('agent_settled')));

  expect(viewOf(whole).messages).toHaveLength(2);
  expect(viewOf(late)).toEqual(viewOf(whole));
});

const delta = (text: string) => (record: Record<string, unknown>) =>
  JSON.stringify(record['assistantMessageEvent'] ?? '').includes(`"${text}`);

/** What a screen shows after everything that these were told, one after another. */
const viewOf = (...peers: readonly RemotePeer[]) =>
  peers
    .flatMap(({ records }) => records)
    .reduce((view, record) => reduce(view, record as unknown as AgentEvent), emptyView);

const seqs = ({ records }: RemotePeer) =>
  records
    .filter(({ type }) => type !== 'server_connected')
    .flatMap(({ seq }) => (typeof seq === 'number' ? [seq] : []));

import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  FILLER,
  fastRetryHome,
  NEAR_CONTEXT_LIMIT,
  openAfterTwoTurns,
  textWithUsage,
} from '../../support/agent/compaction.ts';
import { userTexts } from '../../support/agent/run-records.ts';
import { writeRules } from '../../support/agent/stream-rules.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { startServer } from '../../support/server/test-server.ts';
import { echoHostTool, sendToolResult, setHostTools, toolCallStep } from '../../support/tools/host-tools.ts';
import { verifies } from '../../support/verifies.ts';

const eventsOf = (records: readonly WireRecord[]) =>
  records.filter(({ type }) => type !== 'response' && type !== 'server_connected' && type !== 'state_synced');

const RUN_EVENT = /^(agent_|turn_|message_|tool_execution_)/;

verifies('I19', 'after hello with ids, events name their session, and those of a run the run', async ({ open }) => {
  const { peer } = await open({
    script: [{ toolCall: { name: 'bash', arguments: { command: 'echo hi' } } }, { text: 'done' }],
  });
  const { capabilities } = await peer.ok({ type: 'hello', ids: true, heartbeatMs: 0 });
  const { sessionId } = await peer.ok({ type: 'get_state' });
  const from = peer.records.length;

  await peer.run('go');
  await peer.ok({ type: 'set_session_name', name: 'named' });
  await peer.next('session_info_changed');

  const events = eventsOf(peer.records.slice(from));
  const { runId } = (await peer.find('agent_settled')) as unknown as { runId: string };
  expect(capabilities.ids).toBe(true);
  expect(events.filter((event) => event['sessionId'] !== sessionId)).toEqual([]);
  expect(events.filter(({ type, runId: id }) => RUN_EVENT.test(type) && id !== runId)).toEqual([]);
  expect(events.filter(({ type }) => type === 'session_info_changed')).toEqual([
    { type: 'session_info_changed', name: 'named', sessionId },
  ]);
});

const OTHER_RUN_EVENTS = [
  'auto_retry_start',
  'auto_retry_end',
  'host_tool_call',
  'ttsr_triggered',
  'todo_reminder',
  'compaction_start',
  'compaction_end',
  'auto_compaction_start',
  'auto_compaction_end',
];

verifies('I19', 'retries, host tools, rules, reminders and compactions name their run', async ({ open }) => {
  const home = fastRetryHome();
  writeRules(join(home.agentDir, 'rules'), { tidy: { condition: 'bad' } });
  const script = [
    { error: { status: 529 } },
    toolCallStep('echo_host', { message: 'a' }),
    { text: 'so bad' },
    { text: 'Good.' },
    textWithUsage('No more.', NEAR_CONTEXT_LIMIT),
    { text: 'short' },
  ];
  const { peer } = await openAfterTwoTurns(open, script, { home });
  await peer.ok({ type: 'hello', ids: true });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'set_todos', phases: [{ name: 'All', tasks: [{ content: 'Do it', status: 'pending' }] }] });
  const from = peer.records.length;

  const { runId } = await peer.ok({ type: 'prompt', message: `third ${FILLER}` });
  sendToolResult(peer, await peer.next('host_tool_call'), 'done');
  await peer.next('agent_settled');

  const events = eventsOf(peer.records.slice(from)).filter(({ type }) => OTHER_RUN_EVENTS.includes(type));
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(OTHER_RUN_EVENTS));
  expect(events.filter((event) => event['runId'] !== runId)).toEqual([]);
});

verifies('I19', 'messages that overlap are attributed to the run that they joined or opened', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [{ await: gate.path }, { text: 'a' }] }, { text: 'b' }, { text: 'c' }, { text: 'd' }],
  });
  await peer.ok({ type: 'hello', ids: true, stream: 'delta' });

  const first = await peer.ok({ type: 'prompt', message: 'first' });
  const steered = await peer.ok({ type: 'steer', message: 'steered' });
  const followed = await peer.ok({ type: 'follow_up', message: 'followed' });
  gate.open();
  await peer.next('agent_settled');
  const second = await peer.ok({ type: 'prompt', message: 'second' });
  await peer.next('agent_settled');

  const messagesOf = (runId: string) => userTexts(peer.records.filter((record) => record['runId'] === runId));
  expect([steered.runId, followed.runId]).toEqual([first.runId, first.runId]);
  expect(messagesOf(first.runId)).toEqual(['first', 'steered', 'followed']);
  expect(messagesOf(second.runId)).toEqual(['second']);
  const runEvents = eventsOf(peer.records).filter(({ type }) => RUN_EVENT.test(type));
  expect(runEvents.filter(({ runId }) => runId !== first.runId && runId !== second.runId)).toEqual([]);
});

verifies('I19', 'without hello, or after ids:false, events are as before', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'a' }, { text: 'b' }] });

  await peer.run('one');
  await peer.ok({ type: 'hello', ids: true });
  const { capabilities } = await peer.ok({ type: 'hello', ids: false });
  await peer.run('two');

  const named = eventsOf(peer.records).filter((event) => 'sessionId' in event || 'runId' in event);
  expect(capabilities.ids).toBe(false);
  expect(named.map(({ type }) => type)).toEqual(['agent_settled', 'agent_settled']);
});

verifies(
  'I20',
  'a server adds ids for the clients that requested them, also in live state and on resume',
  async ({ open }) => {
    const gate = newGate();
    const { peer, join } = await open({ script: [{ steps: [{ text: 'a' }, { await: gate.path }, { text: 'b' }] }] });
    const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');
    const other = join?.();
    await other?.find('message_start');
    await other?.ok({ type: 'hello', ids: true });
    const from = other?.records.length;

    gate.open();
    await other?.find('agent_settled');
    await peer.next('agent_settled');

    const { sessionId } = await peer.ok({ type: 'get_state' });
    const received = eventsOf(other?.records.slice(from) ?? []);
    expect(received.length).toBeGreaterThan(2);
    expect(received.filter((event) => event['sessionId'] !== sessionId || event['runId'] !== runId)).toEqual([]);
    const plain = eventsOf(peer.records).filter((event) => 'sessionId' in event || 'runId' in event);
    expect(plain.map(({ type }) => type)).toEqual(['agent_settled']);
  },
  ['websocket'],
);

it('[I20] live state and replayed events carry the ids of a client that connects with the parameter ids', async () => {
  const gates = [newGate(), newGate()] as const;
  const steps = [{ text: 'a' }, { await: gates[0].path }, { text: 'b' }, { await: gates[1].path }, { text: 'c' }];
  const server = await startServer({ script: [{ steps }] });
  const form = { stream: 'delta', ids: 'true' };
  const starter = await server.attach({ stream: 'delta' });
  const { runId } = await starter.ok({ type: 'prompt', message: 'Hi' });
  await starter.next('message_update');
  const late = await server.attach({ session: starter.cursor.session, ...form });
  await late.find('message_start');
  const { cursor } = late;
  late.socket.terminate();
  gates[0].open();
  await starter.next(
    ({ type, assistantMessageEvent: step }) => type === 'message_update' && /"b"/.test(JSON.stringify(step)),
  );

  const resumed = server.connect({ ...cursor, ...form });
  await resumed.find('message_update');
  gates[1].open();
  await resumed.find('agent_settled');

  expect(await resumed.find('server_connected')).toMatchObject({ resume: 'ok' });
  for (const { records } of [late, resumed])
    for (const event of eventsOf(records)) {
      expect(event).toMatchObject({
        sessionId: starter.cursor.session,
        ...(RUN_EVENT.test(event.type) ? { runId } : {}),
      });
    }
  expect(eventsOf(starter.records).filter((event) => 'sessionId' in event)).toEqual([]);
});

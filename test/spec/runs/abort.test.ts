import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { readSessionFile } from '../../support/agent/test-agent.ts';
import { outline, type Peer, type RecordMatch, type WireRecord } from '../../support/clients/peer.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

/** Sends an abort and returns the outline of the records from then on, up to and including the response. */
async function abortAndOutline(peer: Peer, more: object = {}): Promise<string[]> {
  const start = peer.records.length;
  const response = await peer.request({ type: 'abort', ...more });
  expect(response).toEqual({ id: response['id'], type: 'response', command: 'abort', success: true });
  return outline(peer.records.slice(start, peer.records.indexOf(response) + 1));
}

const isStep = (type: string) => (record: WireRecord) =>
  record.type === 'message_update' && (record['assistantMessageEvent'] as { type: string }).type === type;

const isOutput = (text: string) => (record: WireRecord) =>
  record.type === 'tool_execution_update' && JSON.stringify(record['partialResult']).includes(text);

/** Opens an agent, sends a prompt and waits for the first matching record. */
async function openUntil(open: AgentFixture['open'], script: readonly object[], match: RecordMatch) {
  const agent = await open({ script });
  const { runId } = await agent.peer.ok({ type: 'prompt', message: 'first', clientMessageId: 'c1' });
  const record = await agent.peer.next(match);
  return { ...agent, runId, record };
}

const openStalled = (open: AgentFixture['open']) =>
  openUntil(open, [{ stall: true }, { text: 'fine' }], isStep('start'));

const endOfMessage = ['message_update:error', 'message_end'];
const endOfRun = ['turn_end', 'agent_end', 'agent_settled', 'response'];

const lastAssistantMessage = (peer: Peer) => peer.records.findLast(({ type }) => type === 'turn_end')?.['message'];

verifies('P29 P30 R13 R15 R20 R21 M12 M15', 'abort during text keeps the partial text', async ({ open }) => {
  const script = [{ steps: [{ text: 'Hello ', chunks: 1 }, { stall: true }] }];
  const { peer, runId, sessionFiles } = await openUntil(open, script, isStep('text_delta'));

  const records = await abortAndOutline(peer);

  expect(records).toEqual(['message_update:text_end', ...endOfMessage, ...endOfRun]);
  expect(await waitUntilSettled(peer)).toEqual({
    type: 'agent_settled',
    runId,
    aborted: true,
    outcome: 'aborted',
    clientMessageIds: ['c1'],
  });
  const message = lastAssistantMessage(peer);
  expect(message).toMatchObject({
    content: [{ type: 'text', text: 'Hello ' }],
    stopReason: 'aborted',
    errorMessage: 'Request was aborted',
  });
  expect(readSessionFile(sessionFiles()[0] ?? '').at(-1)).toMatchObject({ type: 'message', message });
});

verifies('P29 P30 R20 R21', 'abort during thinking keeps the partial thinking', async ({ open }) => {
  const script = [{ steps: [{ thinking: 'Hm', chunks: 1 }, { stall: true }] }];
  const { peer } = await openUntil(open, script, isStep('thinking_delta'));

  const records = await abortAndOutline(peer);

  expect(records).toEqual(['message_update:thinking_end', ...endOfMessage, ...endOfRun]);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted', aborted: true });
  expect(lastAssistantMessage(peer)).toMatchObject({
    content: [{ type: 'thinking', thinking: 'Hm' }],
    stopReason: 'aborted',
  });
});

verifies('P29 R20', 'abort before the first token leaves an empty assistant message', async ({ open }) => {
  const { peer } = await openStalled(open);

  const records = await abortAndOutline(peer);

  expect(records).toEqual([...endOfMessage, ...endOfRun]);
  expect(lastAssistantMessage(peer)).toMatchObject({ content: [], stopReason: 'aborted' });
  expect((await peer.run('again')).at(-1)).toMatchObject({ outcome: 'ok' });
  expect(assistantTexts(peer.records)).toEqual(['', 'fine']);
});

verifies(
  'P29 P30 R20',
  'abort sent together with the prompt ends the run before the model is called',
  async ({ open, greeting }) => {
    const { peer } = await open({ script: [{ text: 'never' }] });

    peer.send('{"id":"p","type":"prompt","message":"go"}\n{"id":"a","type":"abort"}\n');
    await peer.find(({ id }) => id === 'a');

    expect(outline(peer.records)).toEqual([
      ...greeting,
      'response',
      'agent_start',
      'turn_start',
      'message_start',
      'message_end',
      'message_start',
      'message_end',
      ...endOfRun,
    ]);
    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
    expect(assistantTexts(peer.records)).toEqual(['']);
  },
);

verifies('P29 P30 T18', 'abort while a tool runs kills it and ends the run after its turn', async ({ open }) => {
  const call = { name: 'bash', arguments: { command: 'sleep 1000 & echo $! $$; wait' } };
  const { peer, record } = await openUntil(open, [{ toolCall: call }, { text: 'fine' }], isOutput('\\n'));
  const pids = record.partialResult.content[0].text.trim();

  const records = await abortAndOutline(peer);

  expect(records).toEqual(['tool_execution_end', 'message_start', 'message_end', ...endOfRun]);
  expect(await filterAlive(pids.split(' ').map(Number))).toEqual([]);
  const turn = await peer.find('turn_end');
  expect(turn).toMatchObject({
    message: { stopReason: 'toolUse' },
    toolResults: [{ isError: true, content: [{ type: 'text', text: `${pids}\n\n\nCommand aborted` }] }],
  });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted', aborted: true });
  expect((await peer.run('go on')).at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('P29 T18 T11', 'abort while several tools run ends them all', async ({ open }) => {
  const command = (name: string) => `echo ${name}; trap '' TERM; while :; do sleep 0.05; done`;
  const steps = [
    { toolCall: { name: 'bash', id: 'call_a', arguments: { command: command('aa') } } },
    { toolCall: { name: 'bash', id: 'call_b', arguments: { command: command('bb') } } },
  ];
  const { peer } = await openUntil(open, [{ steps }], isOutput('aa\\n'));
  await peer.find(isOutput('bb\\n'));

  await abortAndOutline(peer);

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
  expect(await peer.find('turn_end')).toMatchObject({
    toolResults: [
      { toolCallId: 'call_a', isError: true, content: [{ text: 'aa\n\n\nCommand aborted' }] },
      { toolCallId: 'call_b', isError: true, content: [{ text: 'bb\n\n\nCommand aborted' }] },
    ],
  });
});

verifies('P29 T18 Q13', 'abort during sequential tool calls starts no further tool', async ({ open }) => {
  const { peer } = await open({
    script: [
      {
        steps: [
          { toolCall: { name: 'bash', id: 'call_a', arguments: { command: 'echo aa; sleep 1000' } } },
          { toolCall: { name: 'write', id: 'call_b', arguments: { path: 'b.txt', content: 'b' } } },
        ],
      },
    ],
  });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(isOutput('aa\\n'));

  await abortAndOutline(peer);

  await waitUntilSettled(peer);
  expect(await peer.find('turn_end')).toMatchObject({
    toolResults: [
      { toolCallId: 'call_a', isError: true },
      { toolCallId: 'call_b', isError: true, content: [{ text: 'Operation aborted' }] },
    ],
  });
});

verifies('P29 R20', 'abort before the assistant message is complete runs none of its tool calls', async ({ open }) => {
  const toolCall = { name: 'write', arguments: { path: 'a.txt', content: 'a' } };
  const script = [{ steps: [{ toolCall }, { stall: true }] }, { text: 'fine' }];
  const { peer } = await openUntil(open, script, isStep('toolcall_end'));

  await abortAndOutline(peer);

  expect(peer.records.filter(({ type }) => type.startsWith('tool_execution'))).toEqual([]);
  expect(await peer.find('turn_end')).toMatchObject({ message: { stopReason: 'aborted' }, toolResults: [] });
  expect((await peer.run('again')).at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('P29 P30', 'two concurrent aborts both respond after the run has settled', async ({ open }) => {
  const { peer } = await openStalled(open);
  const start = peer.records.length;

  peer.send('{"id":1,"type":"abort"}\n{"id":2,"type":"abort","clearQueue":true}\n');
  await peer.find(({ id }) => id === 2);

  expect(outline(peer.records.slice(start))).toEqual([...endOfMessage, ...endOfRun, 'response']);
  expect(peer.records.slice(-2)).toMatchObject([
    { id: 1, success: true },
    { id: 2, success: true },
  ]);
  await waitUntilSettled(peer);
});

verifies('P31', 'abort while the agent is idle succeeds and publishes no event', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });

  await peer.ok({ type: 'abort' });
  await peer.run('go');
  const records = await abortAndOutline(peer, { clearQueue: true });

  expect(records).toEqual(['response']);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

verifies('P32 R17', 'abort keeps the queued messages and starts no run with them', async ({ open }) => {
  const { peer } = await openStalled(open);
  await peer.ok({ type: 'steer', message: 'steered', clientMessageId: 'c2' });
  await peer.ok({ type: 'follow_up', message: 'followed' });
  const update = await peer.find(({ followUp }) => (followUp as string[] | undefined)?.length === 1);
  const start = peer.records.length;

  await abortAndOutline(peer);

  expect(peer.records.slice(start).filter(({ type }) => type === 'queue_update')).toEqual([]);
  expect(update).toMatchObject({ steering: ['steered'], followUp: ['followed'] });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 2 });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted', clientMessageIds: ['c1'] });
  expect(userTexts(peer.records)).toEqual(['first']);
});

verifies('P32', 'a prompt followed at once by an abort takes nothing from the queue', async ({ open }) => {
  const { peer } = await openStalled(open);
  await peer.ok({ type: 'steer', message: 'later' });
  await abortAndOutline(peer);

  peer.send('{"id":"p","type":"prompt","message":"second"}\n{"id":"a","type":"abort"}\n');
  const prompt = await peer.find(({ id }) => id === 'p');
  await peer.find(({ id }) => id === 'a');

  expect(prompt).toMatchObject({ success: true });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 1 });
  expect(userTexts(peer.records)).not.toContain('later');
});

verifies('P33 Q20', 'abort with clearQueue empties both queues', async ({ open }) => {
  const { peer } = await openStalled(open);
  await peer.ok({ type: 'steer', message: 'steered' });
  await peer.ok({ type: 'follow_up', message: 'followed' });

  await abortAndOutline(peer, { clearQueue: true });

  const updates = peer.records.filter(({ type }) => type === 'queue_update');
  expect(updates.at(-1)).toEqual({ type: 'queue_update', steering: [], followUp: [], items: [] });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 0 });
  await peer.run('next');
  expect(userTexts(peer.records)).toEqual(['first', 'next']);
});

verifies('P33', 'abort with clearQueue while idle drops the messages that an earlier abort kept', async ({ open }) => {
  const { peer } = await openStalled(open);
  await peer.ok({ type: 'follow_up', message: 'followed' });
  await peer.ok({ type: 'abort' });

  expect(await abortAndOutline(peer, { clearQueue: true })).toEqual(['queue_update', 'response']);

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 0 });
});

verifies(
  'P47',
  'messages waiting behind an abort fail with agent_busy when another abort arrives; other commands run',
  async ({ open }) => {
    const { peer } = await openStalled(open);

    peer.send(
      [
        { id: 'first', type: 'abort' },
        { id: 'steer', type: 'steer', message: 'a' },
        { id: 'follow', type: 'follow_up', message: 'b' },
        { id: 'prompt', type: 'prompt', message: 'c' },
        { id: 'instead', type: 'abort_and_prompt', message: 'd' },
        { id: 'name', type: 'set_session_name', name: 'named' },
        { id: 'second', type: 'abort' },
      ]
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
    );
    await peer.find(({ id }) => id === 'name');
    await peer.find(({ id }) => id === 'second');

    for (const id of ['steer', 'follow', 'prompt', 'instead']) {
      expect(await peer.find((record) => record['id'] === id), id).toMatchObject({
        success: false,
        code: 'agent_busy',
        error: expect.stringMatching(/^Stopped by an abort/),
      });
    }
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, sessionName: 'named' });
  },
);

import { expect } from 'vitest';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, readSessionFile } from '../../support/agent/test-agent.ts';
import { outline, type WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const message = ['message_start', 'message_end'];
const assistantMessage = (...steps: string[]) => [
  'message_start',
  ...['start', ...steps, 'done'].map((step) => `message_update:${step}`),
  'message_end',
];
const text = ['text_start', 'text_delta', 'text_end'];
const call = ['toolcall_start', 'toolcall_delta', 'toolcall_end'];

const ofType = (records: readonly WireRecord[], type: string) => records.filter((record) => record.type === type);
const bash = (command: string) => ({ toolCall: { name: 'bash', arguments: { command } } });

verifies('R3 R4 R6 R7 R10 R13 R18', 'a plain run sends its records in the specified order', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'Hello world' }] });

  const records = await peer.run('hi');

  expect(outline(records)).toEqual([
    'response',
    'agent_start',
    'turn_start',
    ...message,
    ...assistantMessage(...text),
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  await waitUntilSettled(peer);
});

verifies('R6 R7 R9 R19', 'a run with a tool call sends its records in the specified order', async ({ open }) => {
  const { peer } = await open({
    script: [{ steps: [{ thinking: 'Hm.' }, { text: 'Let me look.' }, bash('echo hi')] }, { text: 'hi' }],
  });

  const records = (await peer.run('look')).filter(({ type }) => type !== 'tool_execution_update');

  expect(outline(records)).toEqual([
    'response',
    'agent_start',
    'turn_start',
    ...message,
    ...assistantMessage('thinking_start', 'thinking_delta', 'thinking_end', ...text, ...call),
    'tool_execution_start',
    'tool_execution_end',
    ...message,
    'turn_end',
    'turn_start',
    ...assistantMessage(...text),
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  await waitUntilSettled(peer);
});

verifies('R5 R8 R9', 'turn_end and agent_end carry the messages they added', async ({ open }) => {
  const { peer } = await open({
    script: [{ text: 'before' }, { steps: [bash('echo hi'), bash('exit 2')] }, { text: 'done' }],
  });
  await peer.run('first');

  const records = await peer.run('second');

  const { messages } = await peer.ok({ type: 'get_messages' });
  const added = messages.slice(2);
  expect(added.map(({ role }: { role: string }) => role)).toEqual([
    'user',
    'assistant',
    'toolResult',
    'toolResult',
    'assistant',
  ]);
  expect(ofType(records, 'agent_end')).toEqual([
    { type: 'agent_end', messages: added, willRetry: false, isTerminal: true },
  ]);
  expect(ofType(records, 'turn_end')).toEqual([
    { type: 'turn_end', message: added[1], toolResults: [added[2], added[3]] },
    { type: 'turn_end', message: added[4], toolResults: [] },
  ]);
});

verifies('R1', 'events are sent while the agent works', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'half ' }, { await: gate.path }, { text: 'whole' }] }] });
  await peer.ok({ type: 'prompt', message: 'talk' });

  const early = await peer.next((record) => JSON.stringify(record).includes('"half '));

  expect(early.type).toBe('message_update');
  expect(ofType(peer.records, 'message_end')).toHaveLength(1);
  gate.open();
  await waitUntilSettled(peer);
});

verifies('R2', 'events carry no id, even when the prompt had one', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [bash(`echo up; while [ ! -e ${gate.path} ]; do sleep 0.05; done`), { text: 'x' }],
  });
  await peer.ok({ id: 'p1', type: 'prompt', message: 'work' });
  await peer.find('tool_execution_start');
  await peer.ok({ type: 'steer', message: 'more' });
  await peer.ok({ type: 'set_steering_mode', mode: 'all' });
  gate.open();

  await waitUntilSettled(peer);

  const events = peer.records.filter(({ type }) => type !== 'response');
  expect(events.filter((event) => Object.hasOwn(event, 'id'))).toEqual([]);
  expect(events.length).toBeGreaterThan(10);
});

verifies('R12 R11', 'agent_end has isTerminal:true and willRetry:false when nothing follows', async ({ open }) => {
  const { peer } = await open({
    script: [{ text: 'one' }, { error: { status: 400 } }, { stall: true, when: 'stall' }],
  });

  await peer.run('fine');
  await peer.run('fail');
  await peer.ok({ type: 'prompt', message: 'stall' });
  await peer.ok({ type: 'abort' });

  expect(ofType(peer.records, 'agent_end')).toMatchObject([
    { willRetry: false, isTerminal: true },
    { willRetry: false, isTerminal: true },
    { willRetry: false, isTerminal: true },
  ]);
});

verifies('R11 R12', 'agent_end has willRetry:true when the same request is repeated', async ({ open }) => {
  const { peer } = await open({
    settings: { retry: { baseDelayMs: 1 } },
    script: [{ error: { status: 529 } }, { cut: true }, { text: 'fine' }],
  });

  const records = await peer.run('go');

  expect(ofType(records, 'agent_end')).toMatchObject([
    { willRetry: true, isTerminal: false },
    { willRetry: true, isTerminal: false },
    { willRetry: false, isTerminal: true },
  ]);
  expect(ofType(records, 'agent_settled')).toHaveLength(1);
});

verifies('R14 R15', 'agent_settled carries the run id and the outcome', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });
  const { runId } = await peer.ok({ type: 'prompt', message: 'hi' });

  const end = await waitUntilSettled(peer);

  expect(end).toEqual({ type: 'agent_settled', runId, aborted: false, outcome: 'ok', clientMessageIds: [] });
});

verifies('R14', 'every run has its own id', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }] });

  for (const prompt of ['a', 'b', 'c']) await peer.run(prompt);

  const ids = ofType(peer.records, 'agent_settled').map(({ runId }) => runId);
  expect(new Set(ids).size).toBe(3);
  expect(ofType(peer.records, 'response').map(({ data }) => (data as { runId: string }).runId)).toEqual(ids);
});

verifies('R23', 'a message is stored before its message_end is sent', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [bash('echo hi'), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'work' });

  for (let count = 0; count < 4; count++) {
    const end = await peer.next('message_end');
    const file = readSessionFile(sessionFiles()[0] ?? '');
    expect(file).toContainEqual(expect.objectContaining({ type: 'message', message: end.message }));
  }
  await waitUntilSettled(peer);
});

verifies('R24', 'wait_idle responds at once while the agent is idle', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });

  const before = await peer.ok({ type: 'wait_idle' });
  const end = (await peer.run('hi')).at(-1);
  const after = await peer.ok({ type: 'wait_idle' });

  expect(before).toEqual({ isIdle: true });
  expect(after).toEqual({ isIdle: true, runId: end?.['runId'], outcome: 'ok' });
});

verifies('R25', 'wait_idle during a run responds after agent_settled', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }] });
  const { runId } = await peer.ok({ type: 'prompt', message: 'hi' });
  peer.send({ id: 'w1', type: 'wait_idle' });
  peer.send({ id: 'w2', type: 'wait_idle' });
  await peer.ok({ type: 'follow_up', message: 'more' });
  gate.open();

  const [first, second] = [await peer.find(({ id }) => id === 'w1'), await peer.find(({ id }) => id === 'w2')];

  for (const response of [first, second]) {
    expect(response).toMatchObject({ success: true, data: { isIdle: true, runId, outcome: 'ok' } });
  }
  const order = peer.records.map(({ type, id }) => id ?? type);
  expect(order.filter((name) => ['agent_settled', 'w1', 'w2'].includes(String(name)))).toEqual([
    'agent_settled',
    'w1',
    'w2',
  ]);
});

verifies('R25', 'wait_idle sent right after a prompt waits for the run of that prompt', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });

  peer.send('{"id":"p","type":"prompt","message":"hi"}\n{"id":"w","type":"wait_idle"}\n');

  const { data } = (await peer.find(({ id }) => id === 'w')) as WireRecord & { data: { runId: string } };
  expect(peer.records.at(-2)).toMatchObject({ type: 'agent_settled', runId: data.runId });
});

verifies('R25', 'wait_idle responds after an abort with outcome aborted', async ({ open }) => {
  const { peer } = await open({ script: [{ stall: true }] });
  await peer.ok({ type: 'prompt', message: 'hi' });
  peer.send({ id: 'w', type: 'wait_idle' });
  await peer.find('message_update');

  await peer.ok({ type: 'abort' });

  expect(await peer.find(({ id }) => id === 'w')).toMatchObject({ data: { isIdle: true, outcome: 'aborted' } });
});

verifies('R23', 'all messages of a run are stored when it settles', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [bash('echo hi'), { text: 'done' }] });

  const records = await peer.run('work');

  const kept = readSessionFile(sessionFiles()[0] ?? '').flatMap((entry) => (entry.message ? [entry.message] : []));
  expect(kept).toEqual(records.find(({ type }) => type === 'agent_end')?.['messages']);
});

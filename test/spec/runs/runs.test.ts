import { expect } from 'vitest';
import { newGate, readSessionFile } from '../../support/agent/test-agent.ts';
import { outline, type WireRecord } from '../../support/clients/peer.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { verifies } from '../../support/verifies.ts';

const message = ['message_start', 'message_end'];
const answer = (...steps: string[]) => [
  'message_start',
  ...['start', ...steps, 'done'].map((step) => `message_update:${step}`),
  'message_end',
];
const text = ['text_start', 'text_delta', 'text_end'];
const call = ['toolcall_start', 'toolcall_delta', 'toolcall_end'];

const of = (records: readonly WireRecord[], type: string) => records.filter((record) => record.type === type);
const bash = (command: string) => ({ toolCall: { name: 'bash', arguments: { command } } });

verifies('R3 R4 R6 R7 R10 R13 R18', 'a plain run, record by record', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'Hello world' }] });

  const records = await peer.run('hi');

  expect(outline(records)).toEqual([
    'response',
    'agent_start',
    'turn_start',
    ...message,
    ...answer(...text),
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  await waitUntilSettled(peer);
});

verifies('R6 R7 R9 R19', 'a run with a tool call, record by record', async ({ open }) => {
  const { peer } = await open({
    script: [{ steps: [{ thinking: 'Hm.' }, { text: 'Let me look.' }, bash('echo hi')] }, { text: 'hi' }],
  });

  const records = (await peer.run('look')).filter(({ type }) => type !== 'tool_execution_update');

  expect(outline(records)).toEqual([
    'response',
    'agent_start',
    'turn_start',
    ...message,
    ...answer('thinking_start', 'thinking_delta', 'thinking_end', ...text, ...call),
    'tool_execution_start',
    'tool_execution_end',
    ...message,
    'turn_end',
    'turn_start',
    ...answer(...text),
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  await waitUntilSettled(peer);
});

verifies('R5 R8 R9', 'turns and the run carry what they added', async ({ open }) => {
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
  expect(of(records, 'agent_end')).toEqual([
    { type: 'agent_end', messages: added, willRetry: false, isTerminal: true },
  ]);
  expect(of(records, 'turn_end')).toEqual([
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
  expect(of(peer.records, 'message_end')).toHaveLength(1);
  gate.open();
  await waitUntilSettled(peer);
});

verifies('R2', 'events have no id, also when the prompt had one', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [bash(`echo up; while [ ! -e ${gate.path} ]; do sleep 0.01; done`), { text: 'x' }],
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

verifies('R12 R11', 'agent_end says that nothing follows by itself', async ({ open }) => {
  const { peer } = await open({
    script: [{ text: 'one' }, { error: { status: 400 } }, { stall: true, when: 'stall' }],
  });

  await peer.run('fine');
  await peer.run('fail');
  await peer.ok({ type: 'prompt', message: 'stall' });
  await peer.ok({ type: 'abort' });

  expect(of(peer.records, 'agent_end')).toMatchObject([
    { willRetry: false, isTerminal: true },
    { willRetry: false, isTerminal: true },
    { willRetry: false, isTerminal: true },
  ]);
});

verifies('R14 R15', 'agent_settled names the run and says how it went', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });
  const { runId } = await peer.ok({ type: 'prompt', message: 'hi' });

  const end = await waitUntilSettled(peer);

  expect(end).toEqual({ type: 'agent_settled', runId, aborted: false, outcome: 'ok', clientMessageIds: [] });
});

verifies('R14', 'every run has a name of its own', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }] });

  for (const prompt of ['a', 'b', 'c']) await peer.run(prompt);

  const ids = of(peer.records, 'agent_settled').map(({ runId }) => runId);
  expect(new Set(ids).size).toBe(3);
  expect(of(peer.records, 'response').map(({ data }) => (data as { runId: string }).runId)).toEqual(ids);
});

verifies('R23', 'what an event shows is in the file by then', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [bash('echo hi'), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'work' });

  for (let count = 0; count < 4; count++) {
    const end = await peer.next('message_end');
    const file = readSessionFile(sessionFiles()[0] ?? '');
    expect(file).toContainEqual(expect.objectContaining({ type: 'message', message: end.message }));
  }
  await waitUntilSettled(peer);
});

verifies('R24', 'wait_idle answers at once when the agent is idle', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });

  const before = await peer.ok({ type: 'wait_idle' });
  const end = (await peer.run('hi')).at(-1);
  const after = await peer.ok({ type: 'wait_idle' });

  expect(before).toEqual({ isIdle: true });
  expect(after).toEqual({ isIdle: true, runId: end?.['runId'], outcome: 'ok' });
});

verifies('R25', 'wait_idle during a run answers after its end', async ({ open }) => {
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

verifies('R25', 'wait_idle right behind a prompt waits for the run of that prompt', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });

  peer.send('{"id":"p","type":"prompt","message":"hi"}\n{"id":"w","type":"wait_idle"}\n');

  const { data } = (await peer.find(({ id }) => id === 'w')) as WireRecord & { data: { runId: string } };
  expect(peer.records.at(-2)).toMatchObject({ type: 'agent_settled', runId: data.runId });
});

verifies('R25', 'wait_idle answers after an abort too, and says so', async ({ open }) => {
  const { peer } = await open({ script: [{ stall: true }] });
  await peer.ok({ type: 'prompt', message: 'hi' });
  peer.send({ id: 'w', type: 'wait_idle' });
  await peer.find('message_update');

  await peer.ok({ type: 'abort' });

  expect(await peer.find(({ id }) => id === 'w')).toMatchObject({ data: { isIdle: true, outcome: 'aborted' } });
});

verifies('R23', 'the end of a run finds everything in the file', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [bash('echo hi'), { text: 'done' }] });

  const records = await peer.run('work');

  const kept = readSessionFile(sessionFiles()[0] ?? '').flatMap((entry) => (entry.message ? [entry.message] : []));
  expect(kept).toEqual(records.find(({ type }) => type === 'agent_end')?.['messages']);
});

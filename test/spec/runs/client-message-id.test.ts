import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY, newGate, readSessionFile, type TestAgent } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const message = { type: 'prompt', message: 'once', clientMessageId: 'c1' };
const stall = { stall: true, when: '^once$' };
const resumed = { args: ['--continue'] };

/** The text and client message id of each stored user entry. */
const storedUsers = ({ sessionFiles }: TestAgent) =>
  readSessionFile(sessionFiles()[0] ?? '').flatMap((entry) =>
    entry.message?.role === 'user' ? [[entry.message.content[0].text, entry.clientMessageId]] : [],
  );

/** Kills the process with SIGKILL. */
async function kill({ process }: TestAgent): Promise<void> {
  process?.kill('SIGKILL');
  await process?.exited;
}

verifies('P41 R17', 'a client message id is stored with its message and listed in agent_settled', async ({ open }) => {
  const gate = newGate();
  const agent = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }] });
  const { peer } = agent;

  await peer.ok(message);
  await peer.next('message_update');
  await peer.ok({ type: 'steer', message: 'plain' });
  await peer.ok({ type: 'follow_up', message: 'more', clientMessageId: 'c2' });
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok', clientMessageIds: ['c1', 'c2'] });
  expect(storedUsers(agent)).toEqual([
    ['once', 'c1'],
    ['plain', undefined],
    ['more', 'c2'],
  ]);
});

verifies('P42', 'an id repeated during its run adds no message', async ({ open }) => {
  const gate = newGate();
  const agent = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }] });
  const { peer } = agent;
  const { runId } = await peer.ok(message);

  const again = [
    await peer.ok(message),
    await peer.ok({ ...message, streamingBehavior: 'steer' }),
    await peer.ok({ ...message, type: 'follow_up', message: 'other words' }),
  ];

  expect(again).toEqual(again.map(() => ({ disposition: 'queued', runId, duplicate: true })));
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ clientMessageIds: ['c1'] });
  expect(storedUsers(agent)).toEqual([['once', 'c1']]);
  expect(peer.records.filter(({ type }) => type === 'queue_update')).toEqual([]);
});

verifies('P42 P39', 'an id repeated after its run starts no run', async ({ open }) => {
  const agent = await open({ script: [{ text: 'one' }, { text: 'never' }] });
  const { peer } = agent;
  await peer.run(message);

  const again = await peer.ok(message);

  expect(again).toEqual({ disposition: 'handled', duplicate: true });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(storedUsers(agent)).toEqual([['once', 'c1']]);
  expect(assistantTexts(peer.records)).toEqual(['one']);
});

verifies('P42', 'an id repeated after its run was aborted or failed starts no run', async ({ open }) => {
  const agent = await open({ settings: NO_RETRY, script: [stall, { error: { status: 500 } }, { text: 'never' }] });
  const { peer } = agent;
  await peer.ok(message);
  await peer.next('message_update');
  await peer.ok({ type: 'abort' });
  await peer.run({ message: 'fails', clientMessageId: 'c2' });

  const again = [await peer.ok(message), await peer.ok({ ...message, clientMessageId: 'c2' })];

  expect(again).toEqual(again.map(() => ({ disposition: 'handled', duplicate: true })));
  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['once', 'fails']);
});

verifies('P42', 'an id repeated while its message is queued returns the queue item', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }] });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.next('message_update');
  const { queueId, runId } = await peer.ok({ ...message, type: 'steer' });

  const again = [await peer.ok({ ...message, type: 'steer' }), await peer.ok(message)];

  expect(again).toEqual(again.map(() => ({ disposition: 'queued', queueId, runId, duplicate: true })));
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ clientMessageIds: ['c1'] });
  expect(userTexts(peer.records)).toEqual(['first', 'once']);
  expect(await peer.ok(message)).toEqual({ disposition: 'handled', duplicate: true });
});

verifies('P42', 'an id sent twice at once is accepted once', async ({ open }) => {
  const agent = await open({ script: [{ text: 'one' }, { text: 'never' }] });
  const { peer } = agent;

  peer.send(['a', 'b'].map((id) => `${JSON.stringify({ ...message, id })}\n`).join(''));

  const [first, second] = [await peer.find(({ id }) => id === 'a'), await peer.find(({ id }) => id === 'b')];
  const { runId } = first['data'] as { runId: string };
  expect(first).toMatchObject({ data: { disposition: 'started', runId } });
  expect(second).toMatchObject({ data: { disposition: 'queued', runId, duplicate: true } });
  expect(await waitUntilSettled(peer)).toMatchObject({ clientMessageIds: ['c1'] });
  expect(storedUsers(agent)).toEqual([['once', 'c1']]);
});

verifies('P41 P42', 'a client message id may be any text', async ({ open }) => {
  const ids = ['"', '\\', ' ', '\u2028', '🙂', '0', 'x'.repeat(10_000), '","clientMessageId":"c1'];
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }] });

  for (const clientMessageId of ids) {
    const records = await peer.run({ message: 'hi', clientMessageId });
    expect(records.at(-1)).toMatchObject({ clientMessageIds: [clientMessageId] });
  }

  for (const clientMessageId of ids) {
    expect(await peer.ok({ ...message, clientMessageId })).toEqual({ disposition: 'handled', duplicate: true });
  }
  expect(await peer.ok({ ...message, clientMessageId: 'c1' })).toMatchObject({ disposition: 'started' });
});

verifies('P42', 'message text is not mistaken for a client message id', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }] });
  await peer.run('{"clientMessageId":"c1"} "clientMessageId":"c1"');

  expect(await peer.ok(message)).toMatchObject({ disposition: 'started' });

  await waitUntilSettled(peer);
});

verifies('P42', 'a client message id is scoped to its session', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run(message);
  await peer.ok({ type: 'new_session' });

  expect((await peer.run(message)).at(-1)).toMatchObject({ outcome: 'ok', clientMessageIds: ['c1'] });
});

verifies('P41 P42', 'a client message id is recognised after a restart', async ({ open }) => {
  const first = await open({ script: [{ text: 'one' }] });
  await first.peer.run(message);
  await first.close();

  const args = ['--session', first.sessionFiles()[0] ?? ''];
  const second = await open({ args, home: first.home, script: [{ text: 'never' }] });
  const again = await second.peer.ok(message);

  expect(again).toEqual({ disposition: 'handled', duplicate: true });
  expect(await second.peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, messageCount: 2 });
  expect(storedUsers(second)).toEqual([['once', 'c1']]);
});

verifies(
  'P43 R17',
  'an id whose run never began because the process was killed starts that run',
  async ({ open }) => {
    const first = await open({ script: [stall] });
    await first.peer.ok(message);
    await kill(first);

    const second = await open({ ...resumed, home: first.home, script: [{ text: 'at last' }] });
    expect(await second.peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, messageCount: 1 });
    const again = await second.peer.ok(message);

    const end = await waitUntilSettled(second.peer);
    expect(again).toEqual({ disposition: 'started', runId: end['runId'], duplicate: true });
    expect(end).toMatchObject({ outcome: 'ok', clientMessageIds: ['c1'] });
    expect(userTexts(second.peer.records)).toEqual(['once']);
    expect(assistantTexts(second.peer.records)).toEqual(['at last']);
    expect(storedUsers(second)).toEqual([['once', 'c1']]);
    expect(await second.peer.ok(message)).toEqual({ disposition: 'handled', duplicate: true });
  },
  ['stdio', 'unix'],
);

verifies(
  'P43',
  'an id whose message was never stored is accepted as new',
  async ({ open }) => {
    const first = await open({ script: [{ text: 'one' }] });
    await first.peer.run('before');
    await kill(first);

    const second = await open({ ...resumed, home: first.home, script: [{ text: 'two' }] });

    expect(await second.peer.ok(message)).toEqual({ disposition: 'started', runId: expect.any(String) });
    await waitUntilSettled(second.peer);
    expect(storedUsers(second)).toEqual([
      ['before', undefined],
      ['once', 'c1'],
    ]);
  },
  ['stdio', 'unix'],
);

/** Appends one line per execution and runs until the test folder is removed. */
const command = 'echo x >> runs.txt; echo up; while [ -e runs.txt ]; do sleep 0.05; done';
const countingCall = { toolCall: { name: 'bash', arguments: { command } } };
const hasStarted = (record: WireRecord) =>
  record.type === 'tool_execution_update' && JSON.stringify(record['partialResult']).includes('up');

verifies('P44', 'a repeated id never runs a tool again', async ({ open }) => {
  const agent = await open({ script: [countingCall, countingCall] });
  const { peer, home } = agent;
  await peer.ok(message);
  await peer.find(hasStarted);

  await peer.ok(message);
  await peer.ok({ type: 'abort' });
  await peer.ok(message);

  await waitUntilSettled(peer);
  expect(readFileSync(join(home.cwd, 'runs.txt'), 'utf8')).toBe('x\n');
});

verifies(
  'P44',
  'a repeated id never runs a tool again, even if the process was killed while it ran',
  async ({ open }) => {
    const first = await open({ script: [countingCall] });
    await first.peer.ok(message);
    await first.peer.find(hasStarted);
    await kill(first);

    const second = await open({ ...resumed, home: first.home, script: [countingCall] });
    const again = await second.peer.ok(message);

    expect(again).toEqual({ disposition: 'handled', duplicate: true });
    expect(await second.peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
    expect(readFileSync(join(first.home.cwd, 'runs.txt'), 'utf8')).toBe('x\n');
    const { messages } = await second.peer.ok({ type: 'get_messages' });
    expect(messages.at(-1)).toMatchObject({ role: 'toolResult', isError: true });
  },
  ['stdio', 'unix'],
);

verifies(
  'P45 P42',
  'a queued message survives SIGKILL and stays queued',
  async ({ open }) => {
    const first = await open({ script: [{ stall: true }] });
    await first.peer.ok({ type: 'prompt', message: 'first' });
    await first.peer.next('message_update');
    const { queueId } = await first.peer.ok({ type: 'follow_up', message: 'later', clientMessageId: 'c1' });
    await first.peer.ok({ type: 'steer', message: 'soon' });
    const queue = await first.peer.find(({ steering }) => (steering as string[] | undefined)?.length === 1);
    await kill(first);

    const second = await open({ ...resumed, home: first.home, script: [{ text: 'one' }, { text: 'two' }] });
    const { peer } = second;

    expect(await peer.find('queue_update')).toEqual(queue);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 2 });
    expect(await peer.ok({ ...message, message: 'later' })).toEqual({
      disposition: 'queued',
      queueId,
      duplicate: true,
    });
    await peer.run('go on');
    expect(userTexts(peer.records)).toEqual(['go on', 'soon', 'later']);
    expect(storedUsers(second)).toEqual([
      ['first', undefined],
      ['go on', undefined],
      ['soon', undefined],
      ['later', 'c1'],
    ]);
    expect(await waitUntilSettled(peer)).toMatchObject({ clientMessageIds: ['c1'] });
  },
  ['stdio', 'unix'],
);

verifies(
  'P45 Q24 Q25',
  'removed, edited and delivered queue items stay so after SIGKILL',
  async ({ open }) => {
    const gate = newGate();
    const first = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { stall: true }] });
    await first.peer.ok({ type: 'prompt', message: 'first' });
    await first.peer.next('message_update');
    const [a, b] = [
      await first.peer.ok({ type: 'follow_up', message: 'a' }),
      await first.peer.ok({ type: 'follow_up', message: 'b' }),
    ];
    await first.peer.ok({ type: 'follow_up', message: 'c' });
    await first.peer.ok({ type: 'steer', message: 'delivered' });
    await first.peer.ok({ type: 'remove_queued', queueId: a.queueId });
    await first.peer.ok({ type: 'edit_queued', queueId: b.queueId, message: 'B' });
    gate.open();
    await first.peer.find(({ message: published }) => JSON.stringify(published)?.includes('delivered') === true);
    await kill(first);

    const { peer } = await open({ ...resumed, home: first.home });

    expect(await peer.find('queue_update')).toMatchObject({ steering: [], followUp: ['B', 'c'] });
  },
  ['stdio', 'unix'],
);

import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { outline } from '../../support/clients/peer.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const messageFrames = ['message_start', 'message_end'];
const answerFrames = [
  'message_start',
  'message_update:start',
  'message_update:text_start',
  'message_update:text_delta',
  'message_update:text_end',
  'message_update:done',
  'message_end',
];

/** Sends a message during a run and expects that run to queue and serve it. */
const joins =
  (kind: 'steer' | 'followUp', command: { type: string } & Record<string, string>) =>
  async ({ open }: AgentFixture) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }] });
    const { runId } = await peer.ok({ type: 'prompt', message: 'first' });
    await peer.next('message_update');

    const accepted = await peer.ok({ ...command, message: 'second' });

    expect(accepted).toEqual({ disposition: 'queued', runId, queueId: expect.any(String) });
    expect(await peer.find('queue_update')).toEqual({
      type: 'queue_update',
      steering: kind === 'steer' ? ['second'] : [],
      followUp: kind === 'followUp' ? ['second'] : [],
      items: [{ id: accepted.queueId, kind, text: 'second' }],
    });
    gate.open();
    expect(await waitUntilSettled(peer)).toMatchObject({ runId, outcome: 'ok' });
    expect(userTexts(peer.records)).toEqual(['first', 'second']);
    expect(assistantTexts(peer.records)).toEqual(['one', 'two']);
  };

verifies('P19 P39 P40 Q17', 'steer joins the run as steering', joins('steer', { type: 'steer' }));

verifies(
  'P11 P39 P40 Q17',
  'a prompt with streamingBehavior steer joins the run as steering',
  joins('steer', { type: 'prompt', streamingBehavior: 'steer' }),
);

verifies('P23 P39 P40 Q19', 'follow_up joins the run as a follow-up', joins('followUp', { type: 'follow_up' }));

verifies(
  'P12 P39 P40 Q19',
  'a prompt with streamingBehavior followUp joins the run as a follow-up',
  joins('followUp', { type: 'prompt', streamingBehavior: 'followUp' }),
);

verifies('P19 Q17 Q20 R18', 'a steered run sends its records in the specified order', async ({ open, greeting }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }] });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.find('message_update');

  await peer.ok({ type: 'steer', message: 'second' });
  gate.open();
  await waitUntilSettled(peer);

  const records = outline(peer.records.filter(({ command }) => command !== 'wait_idle' && command !== 'get_state'));
  expect(records).toEqual([
    ...greeting,
    'response',
    'agent_start',
    'turn_start',
    ...messageFrames,
    ...answerFrames.slice(0, 2),
    'queue_update',
    'response',
    ...answerFrames.slice(2),
    'turn_end',
    'turn_start',
    'queue_update',
    ...messageFrames,
    ...answerFrames,
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
});

/** Sends a message to an idle agent and expects a run of its own. */
const opens =
  (type: string) =>
  async ({ open }: AgentFixture) => {
    const { peer } = await open({ script: [{ text: 'here' }] });

    const accepted = await peer.ok({ type, message: 'anybody?', clientMessageId: 'c1' });

    const end = await waitUntilSettled(peer);
    expect(accepted).toEqual({ disposition: 'started', runId: end['runId'] });
    expect(end).toMatchObject({ outcome: 'ok', clientMessageIds: ['c1'] });
    expect(userTexts(peer.records)).toEqual(['anybody?']);
    expect(assistantTexts(peer.records)).toEqual(['here']);
    expect(peer.records.filter((record) => record.type === 'queue_update')).toEqual([]);
  };

verifies('P27', 'steer while the agent is idle opens a run', opens('steer'));

verifies('P28', 'follow_up while the agent is idle opens a run', opens('follow_up'));

verifies('P27 P28', 'an empty message opens no run', async ({ open }) => {
  const { peer } = await open();

  for (const type of ['steer', 'follow_up']) {
    expect(await peer.refused({ type, message: '' })).toMatchObject({ command: type, code: 'invalid_params' });
  }

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, messageCount: 0 });
});

verifies('P27 P32 Q17', 'messages left in the queue are delivered after the next message', async ({ open }) => {
  const { peer } = await open({ script: [{ stall: true, when: '^first$' }, { text: 'one' }, { text: 'two' }] });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.ok({ type: 'follow_up', message: 'follow' });
  await peer.ok({ type: 'steer', message: 'steered' });
  await peer.ok({ type: 'abort' });

  await peer.ok({ type: 'steer', message: 'next' });

  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['first', 'next', 'steered', 'follow']);
  expect(assistantTexts(peer.records)).toEqual(['', 'one', 'two']);
});

verifies('Q18 Q19', 'the run delivers steering before follow-ups', async ({ open }) => {
  const gate = newGate();
  const script = [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }, { text: 'three' }];
  const { peer } = await open({ script });
  await peer.ok({ type: 'prompt', message: 'first' });

  await peer.ok({ type: 'follow_up', message: 'afterwards' });
  await peer.ok({ type: 'steer', message: 'meanwhile' });
  gate.open();

  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['first', 'meanwhile', 'afterwards']);
  expect(peer.records.filter(({ type }) => type === 'agent_start')).toHaveLength(1);
  expect(peer.records.filter(({ type }) => type === 'agent_end')).toHaveLength(1);
  expect(peer.records.filter(({ type }) => type === 'turn_start')).toHaveLength(3);
});

verifies('Q18', 'a follow-up waits until no tool call is left', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [
      { steps: [{ await: gate.path }, { toolCall: { name: 'bash', arguments: { command: 'echo one' } } }] },
      { toolCall: { name: 'bash', arguments: { command: 'echo two' } } },
      { text: 'done' },
      { text: 'followed' },
    ],
  });
  await peer.ok({ type: 'prompt', message: 'work' });

  await peer.ok({ type: 'follow_up', message: 'and then?' });
  gate.open();

  await waitUntilSettled(peer);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.map(({ role }: { role: string }) => role)).toEqual([
    'user',
    'assistant',
    'toolResult',
    'assistant',
    'toolResult',
    'assistant',
    'user',
    'assistant',
  ]);
});

verifies('Q17', 'a steering message reaches the model with the next call', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [
      { steps: [{ await: gate.path }, { toolCall: { name: 'bash', arguments: { command: 'true' } } }], when: 'first' },
      { text: 'heard', when: '^second$' },
      { text: 'did not hear' },
    ],
  });
  await peer.ok({ type: 'prompt', message: 'first' });

  await peer.ok({ type: 'steer', message: 'second' });
  gate.open();

  await waitUntilSettled(peer);
  expect(assistantTexts(peer.records).at(-1)).toBe('heard');
});

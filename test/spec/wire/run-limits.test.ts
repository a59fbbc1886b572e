import { expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/model/request.ts';
import { callBash, customMessage, openWithHooks, rolesOf } from '../../support/agent/hooked-agent.ts';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { outline, type WireRecord } from '../../support/clients/peer.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { waitForFileCommand } from '../../support/tools/shell-commands.ts';
import { verifies } from '../../support/verifies.ts';

/** A model response with a tool call and this usage. */
const call = (output = 100) => ({ steps: [...callBash.steps, { usage: { output } }] });

const overBudget = (text: string) => ({ outcome: 'budget', aborted: false, errorMessage: text });

const lastRecord = (records: readonly WireRecord[]) => records.at(-1);

verifies('P46 P49', 'a run that exceeds its turn limit ends after the tools of the last turn', async ({ open }) => {
  const { peer } = await open({ script: [call(), call(), { text: 'never' }] });

  const records = await peer.run({ message: 'go', limits: { turns: 2 }, clientMessageId: 'c1' });

  expect(lastRecord(records)).toMatchObject({
    ...overBudget('The run has used up its model calls (2)'),
    clientMessageIds: ['c1'],
  });
  expect(lastRecord(records)).not.toHaveProperty('errorCode');
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'toolResult', 'assistant', 'toolResult']);
  expect(outline(records).slice(-3)).toEqual(['turn_end', 'agent_end', 'agent_settled']);
  expect(records.at(-2)).toMatchObject({ type: 'agent_end', isTerminal: true, willRetry: false });
  expect(await peer.ok({ type: 'wait_idle' })).toMatchObject({ outcome: 'budget' });
});

verifies('P49', 'a run that needs no further model call ends with ok, even over its limits', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'one' }, { usage: { output: 5000 } }] }] });

  const records = await peer.run({ message: 'go', limits: { turns: 1, tokens: 10, cost: 0.1 } });

  expect(lastRecord(records)).toMatchObject({ outcome: 'ok' });
  expect(lastRecord(records)).not.toHaveProperty('errorMessage');
});

verifies('P46', 'the tokens of all model calls are added up', async ({ open }) => {
  const { peer } = await open({ script: [call(60), call(60), { text: 'never' }] });

  const records = await peer.run({ message: 'go', limits: { tokens: 100 } });

  expect(lastRecord(records)).toMatchObject(overBudget('The run has used up its tokens (100)'));
  expect(records.filter(({ type }) => type === 'turn_end')).toHaveLength(2);
});

verifies('P46', 'the time limit counts from the start of the run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ toolCall: { name: 'bash', arguments: { command: waitForFileCommand(gate.path) } } }, { text: 'never' }],
  });
  await peer.ok({ type: 'prompt', message: 'go', limits: { wallMs: 1 } });
  // The first call depends on the speed of the machine; a second call is never allowed.
  gate.open();

  expect(await peer.next('agent_settled')).toMatchObject(overBudget('The run has used up its time (1 ms)'));
  expect(assistantTexts(peer.records)).not.toContain('never');
});

for (const limits of [{ turns: 0 }, { tokens: 0 }, { cost: 0 }, { wallMs: 0 }]) {
  const [[name] = []] = Object.entries(limits);
  verifies('P49 R13', `with no ${name} left the message is stored and no turn starts`, async ({ open }) => {
    const { peer } = await open({ script: [{ text: 'one' }] });

    const records = await peer.run({ message: 'go', limits });

    expect(outline(records)).toEqual([
      ...['response', 'agent_start', 'message_start', 'message_end', 'agent_end', 'agent_settled'],
    ]);
    expect(records.at(-2)).toMatchObject({ isTerminal: true, messages: [{ role: 'user' }] });
    expect(lastRecord(records)).toMatchObject({ outcome: 'budget', errorMessage: expect.stringContaining('0') });
    expect(lastRecord(await peer.run('again'))).toMatchObject({ outcome: 'ok' });
    expect(userTexts(peer.records)).toEqual(['go', 'again']);
    expect(assistantTexts(peer.records)).toEqual(['one']);
  });
}

verifies('P50', 'queued messages stay queued when the budget is used up, and join the next run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [
      { toolCall: { name: 'bash', arguments: { command: waitForFileCommand(gate.path) } } },
      { text: 'two' },
      { text: 'three' },
      { text: 'four' },
    ],
  });
  await peer.ok({ type: 'prompt', message: 'go', limits: { turns: 1 } });
  await peer.find('tool_execution_start');
  await peer.ok({ type: 'steer', message: 'steered' });
  await peer.ok({ type: 'follow_up', message: 'followed' });
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject(overBudget('The run has used up its model calls (1)'));
  expect(await peer.find('agent_end')).toMatchObject({ isTerminal: true });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 2 });
  expect(userTexts(peer.records)).toEqual(['go']);
  await peer.run('next');
  expect(userTexts(peer.records)).toEqual(['go', 'next', 'steered', 'followed']);
});

verifies('P50', 'a follow-up stays queued when the run may not answer it', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'never' }] });
  await peer.ok({ type: 'prompt', message: 'go', limits: { turns: 1 } });
  await peer.ok({ type: 'follow_up', message: 'followed', clientMessageId: 'c2' });
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject({
    ...overBudget('The run has used up its model calls (1)'),
    clientMessageIds: [],
  });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 1 });
});

verifies('P51', 'the limits of a joining message narrow the run, counted from its start', async ({ open }) => {
  const gate = newGate();
  const wait = { toolCall: { name: 'bash', arguments: { command: waitForFileCommand(gate.path) } } };
  const { peer } = await open({ script: [wait, call(), { text: 'never' }] });
  await peer.ok({ type: 'prompt', message: 'go', limits: { turns: 9 } });
  await peer.find('tool_execution_start');

  const steer = { streamingBehavior: 'steer', limits: { turns: 2 } };
  await peer.ok({ type: 'prompt', message: 'narrow', ...steer });
  await peer.ok({ type: 'prompt', message: 'wide', streamingBehavior: 'followUp', limits: { turns: 100 } });
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject(overBudget('The run has used up its model calls (2)'));
  expect(userTexts(peer.records)).toEqual(['go', 'narrow']);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 1 });
});

verifies('P51 P42', 'the limits of a duplicate or rejected message have no effect', async ({ open }) => {
  const gate = newGate();
  const wait = { toolCall: { name: 'bash', arguments: { command: waitForFileCommand(gate.path) } } };
  const { peer } = await open({ script: [wait, { text: 'fine' }] });
  await peer.ok({ type: 'prompt', message: 'go', clientMessageId: 'c1' });
  await peer.find('tool_execution_start');

  const limits = { turns: 0 };
  expect(await peer.ok({ type: 'prompt', message: 'go', clientMessageId: 'c1', limits })).toMatchObject({
    duplicate: true,
  });
  expect(await peer.refused({ type: 'prompt', message: 'no', limits })).toMatchObject({ code: 'agent_busy' });
  await peer.refused({ type: 'prompt', message: '', streamingBehavior: 'steer', limits });
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

verifies('P46 P43', 'a repeated message that starts its run applies its limits', async ({ open }) => {
  const home = newHome();
  const message = { role: 'user', content: 'again', timestamp: 1 };
  const path = storeSession(home, [
    ...shortConversation(home.cwd),
    entry('message', 'cccccccc', 'bbbbbbbb', { clientMessageId: 'c1', message }),
  ]);
  const { peer } = await open({ home, args: ['--session', path], script: [call(), { text: 'never' }] });

  const records = await peer.run({ message: 'again', clientMessageId: 'c1', limits: { turns: 1 } });

  expect(lastRecord(records)).toMatchObject({ outcome: 'budget' });
});

verifies('P46', 'abort_and_prompt has its own limits, and limits end with their run', async ({ open }) => {
  const { peer } = await open({ script: [{ stall: true }, call(), call(), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'go', limits: { turns: 5 } });
  await peer.find('message_update');

  await peer.ok({ type: 'abort_and_prompt', message: 'instead', limits: { turns: 1 } });
  await peer.find(({ type, outcome }) => type === 'agent_settled' && outcome === 'budget');
  const after = await peer.run('freely');

  const outcomes = peer.records.filter(({ type }) => type === 'agent_settled').map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['aborted', 'budget', 'ok']);
  expect(assistantTexts(after)).toEqual(['', 'done']);
});

verifies('P46 P29', 'an aborted run has the outcome aborted, whatever its limits', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ toolCall: { name: 'bash', arguments: { command: waitForFileCommand(gate.path) } } }, { text: 'never' }],
  });
  await peer.ok({ type: 'prompt', message: 'go', limits: { turns: 1 } });
  await peer.find('tool_execution_start');

  await peer.ok({ type: 'abort' });

  const end = await waitUntilSettled(peer);
  expect(end).toMatchObject({ outcome: 'aborted', aborted: true });
  expect(end).not.toHaveProperty('errorMessage');
});

verifies('P46', 'malformed limits are rejected', async ({ open }) => {
  const { peer } = await open();

  for (const limits of [5, [], { turns: -1 }, { turns: 1.5 }, { tokens: '5' }, { cost: '1' }, { wallMs: null }, null]) {
    const rejection = await peer.refused({ type: 'prompt', message: 'go', limits });
    expect(rejection, JSON.stringify(limits)).toMatchObject({ code: 'invalid_params' });
  }
  expect((await peer.ok({ type: 'get_state' })).messageCount).toBe(0);
});

/** Puts a price on the built-in model. */
const priced = async (request: ModelRequest): Promise<ModelRequest> => ({
  ...request,
  model: { ...request.model, cost: { input: 0, output: 1000, cacheRead: 0, cacheWrite: 0 } },
});

it('[P46] cost is computed from the price of the model', async () => {
  const { client } = await openWithHooks(
    { beforeRequest: priced },
    { answers: [call(100), call(100), { text: 'never' }] },
  );

  const { settled: end, messages } = await client.promptAndWait({ message: 'go', limits: { cost: 0.2 } });

  expect(end).toMatchObject(overBudget('The run has used up its money ($0.2)'));
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'toolResult', 'assistant', 'toolResult']);
});

it('[P49] hooks cannot continue a run beyond its limits, but their messages are stored', async () => {
  const outcomes: string[] = [];
  const { client } = await openWithHooks(
    {
      turnEnd: async () => ({ messages: [customMessage('after the turn')], continue: true }),
      beforeSettle: async ({ outcome }) => {
        outcomes.push(outcome);
        return { messages: [customMessage('a last word')], continue: true };
      },
    },
    { answers: [{ text: 'one' }, { repeat: true }] },
  );

  const { settled: end, messages, events } = await client.promptAndWait({ message: 'go', limits: { turns: 2 } });

  expect(end).toMatchObject({ outcome: 'budget' });
  expect(outcomes).toEqual(['budget']);
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom', 'assistant', 'custom', 'custom']);
  expect(events.filter(({ type }) => type === 'agent_end')).toMatchObject([{ isTerminal: true }]);
});

it('[P49] a finished run that beforeSettle continues ends at its limits', async () => {
  const outcomes: string[] = [];
  const { client } = await openWithHooks(
    {
      beforeSettle: async ({ outcome }) => {
        outcomes.push(outcome);
        return { continue: true };
      },
    },
    { answers: [{ text: 'one' }, { repeat: true }] },
  );

  const { settled: end, events } = await client.promptAndWait({ message: 'go', limits: { turns: 2 } });

  expect(end).toMatchObject({ outcome: 'budget' });
  expect(outcomes).toEqual(['ok', 'ok']);
  const ends = events.filter(({ type }) => type === 'agent_end');
  expect(ends).toMatchObject([{ isTerminal: false }, { isTerminal: true }]);
});

it('[P49] beforeAgentStart does not run when no model call is allowed', async () => {
  let calls = 0;
  const { client } = await openWithHooks({
    beforeAgentStart: async () => {
      calls++;
      return { messages: [customMessage('hello')] };
    },
  });

  const { messages } = await client.promptAndWait({ message: 'go', limits: { turns: 0 } });

  expect([calls, rolesOf(messages)]).toEqual([0, ['user']]);
});

verifies('P46', 'an unknown limit is rejected, not ignored', async ({ open }) => {
  const { peer } = await open();

  for (const type of ['prompt', 'abort_and_prompt']) {
    expect(await peer.request({ type, message: 'go', limits: { maxTurns: 1 } })).toMatchObject({
      success: false,
      code: 'invalid_params',
      error: 'Invalid parameters: limits.maxTurns is not one of turns, tokens, cost, wallMs',
    });
  }
  expect(await peer.refused({ type: 'prompt', message: 'go', limits: { cost: -1 } })).toMatchObject({
    code: 'invalid_params',
    error: 'Invalid parameters: limits.cost must be at least 0',
  });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, messageCount: 0 });
});

verifies('R26 P46', 'the time limit stops a model call that does not respond', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'begun' }, { stall: true }] }, { text: 'next' }] });

  const records = await peer.run({ message: 'go', limits: { wallMs: 500 } });

  expect(lastRecord(records)).toMatchObject(overBudget('The run has used up its time (500 ms)'));
  expect(lastRecord(records)).not.toHaveProperty('errorCode');
  expect(assistantTexts(await peer.run('again'))).toEqual(['next']);
});

verifies('R26 P50', 'the time limit stops a running tool, which gets an error result', async ({ open }) => {
  const { peer } = await open({
    script: [{ toolCall: { name: 'bash', arguments: { command: 'sleep 1000' } } }, { text: 'next' }],
  });
  await peer.ok({ type: 'prompt', message: 'go', limits: { wallMs: 2000 } });
  await peer.find('tool_execution_start');
  await peer.ok({ type: 'follow_up', message: 'later' });

  expect(await waitUntilSettled(peer)).toMatchObject(overBudget('The run has used up its time (2000 ms)'));
  expect(await peer.find('tool_execution_end')).toMatchObject({ isError: true });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 1 });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'toolResult']);
});

verifies('R26', 'an abort before the time limit counts as an abort', async ({ open }) => {
  const { peer } = await open({ script: [{ stall: true }] });
  await peer.ok({ type: 'prompt', message: 'go', limits: { wallMs: 3_600_000 } });

  await peer.ok({ type: 'abort' });

  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'aborted', aborted: true });
});

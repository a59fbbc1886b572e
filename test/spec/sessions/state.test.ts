import { expect } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { shortConversation, entry, storeSession } from '../../support/sessions/stored-session.ts';
import { AGENT_SWITCHES_SESSION, LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

verifies(
  'G1 G2 G3 G4 G5 G6 G7 G8 G9 G10 G11 G12 G13 G14 G15 G16 D16',
  'a fresh agent tells its whole state',
  async ({ open }) => {
    const { peer, home, sessionFiles } = await open({ args: ['--model', 'tau/scripted', '--name', 'shop'] });

    const state = await peer.ok({ type: 'get_state' });

    const [sessionFile] = sessionFiles();
    const { models } = await peer.ok({ type: 'get_available_models' });
    expect(state).toEqual({
      model: models[0],
      thinkingLevel: 'medium',
      isStreaming: false,
      isIdle: true,
      isCompacting: false,
      steeringMode: 'one-at-a-time',
      followUpMode: 'one-at-a-time',
      interruptMode: 'wait',
      sessionFile,
      sessionId: sessionFile?.match(/_(.+)\.jsonl$/)?.[1],
      sessionName: 'shop',
      cwd: home.cwd,
      projectTrusted: false,
      autoCompactionEnabled: true,
      messageCount: 0,
      pendingMessageCount: 0,
      queuedMessageCount: 0,
      queuedMessages: [],
      todoPhases: [],
      pendingUi: [],
      activeTools: ['read', 'bash', 'edit', 'write'],
    });
    expect(models[0]).toMatchObject({ provider: 'tau', id: 'scripted' });
  },
);

verifies(
  'G6 G8 D16',
  'what has no value is not there',
  async ({ open }) => {
    const { peer } = await open({ args: ['--no-session'] });

    const state = await peer.ok({ type: 'get_state' });

    expect(Object.keys(state)).not.toEqual(expect.arrayContaining(['sessionFile']));
    expect(Object.keys(state)).not.toEqual(expect.arrayContaining(['sessionName']));
    expect(Object.keys(state)).not.toEqual(expect.arrayContaining(['runId']));
    expect(Object.entries(state).filter(([, value]) => value === null)).toEqual([]);
    expect(state.sessionId).toEqual(expect.any(String));
  },
  LOCAL_TRANSPORTS,
);

verifies('G1 D16', 'a model that nobody can reach is null, and prompts say why', async ({ open }) => {
  const home = newHome();
  const change = entry('model_change', '11111111', 'bbbbbbbb', { provider: 'anthropic', modelId: 'claude-sonnet-4' });
  const level = entry('thinking_level_change', '22222222', '11111111', { thinkingLevel: 'high' });
  const path = storeSession(home, [...shortConversation(home.cwd), change, level]);
  const { peer } = await open({ home, args: ['--session', path] });

  const state = await peer.ok({ type: 'get_state' });
  const refusal = await peer.refused({ type: 'prompt', message: 'hello' });

  expect(state).toMatchObject({ model: null, thinkingLevel: 'high', messageCount: 2 });
  expect(refusal).toMatchObject({
    code: 'model_not_found',
    error: expect.stringContaining('No API key found for anthropic'),
  });
  expect(await peer.ok({ type: 'get_available_thinking_levels' })).toEqual({ levels: ['off'] });
  expect(await peer.ok({ type: 'cycle_thinking_level' })).toBe(null);
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { id: 'scripted' }, thinkingLevel: 'high' });
});

verifies('G2', 'a stored thinking level that does not exist becomes one that does', async ({ open }) => {
  const home = newHome();
  const change = entry('model_change', '11111111', 'bbbbbbbb', { provider: 'anthropic', modelId: 'claude-sonnet-4' });
  const level = entry('thinking_level_change', '22222222', '11111111', { thinkingLevel: 'ultra' });
  const path = storeSession(home, [...shortConversation(home.cwd), change, level]);
  const { peer } = await open({ home, args: ['--session', path] });

  const { thinkingLevel } = await peer.ok({ type: 'get_state' });

  expect(thinkingLevel).toBe('medium');
});

verifies('G3 G15', 'isStreaming and isIdle tell of a run from its first moment to its last', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'a ' }, { stall: true }] }] });

  const accepted = await peer.ok({ type: 'prompt', message: 'wait' });
  const during = await peer.ok({ type: 'get_state' });
  await peer.next('message_update');
  const streaming = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'abort' });
  const after = await peer.ok({ type: 'get_state' });

  const busy = { isStreaming: true, isIdle: false, runId: accepted.runId };
  expect([during, streaming]).toMatchObject([busy, busy]);
  expect(after).toMatchObject({ isStreaming: false, isIdle: true });
  expect(after).not.toHaveProperty('runId');
});

verifies('G3 G15', 'a run counts as active while a tool works', async ({ open }) => {
  const { peer } = await open({
    script: [{ steps: [{ toolCall: { name: 'bash', arguments: { command: 'sleep 1000' } } }] }],
  });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.next('tool_execution_start');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true, isIdle: false });
});

const modes = { steeringMode: 'all', followUpMode: 'all', interruptMode: 'immediate' };

verifies('G5 G13', 'the modes are those that were set', async ({ open }) => {
  const { peer } = await open();

  await peer.ok({ type: 'set_steering_mode', mode: 'all' });
  await peer.ok({ type: 'set_follow_up_mode', mode: 'all' });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject(modes);
});

verifies(
  'G5 G13',
  'the modes go along to another session',
  async ({ open }) => {
    const { peer } = await open();
    await peer.ok({ type: 'set_steering_mode', mode: 'all' });
    await peer.ok({ type: 'set_follow_up_mode', mode: 'all' });
    await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });

    await peer.ok({ type: 'new_session' });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject(modes);
  },
  AGENT_SWITCHES_SESSION,
);

verifies('G10', 'messageCount is the number of messages, before and after they were read', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  await peer.run('second');
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'new_session' });
  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

  const before = await peer.ok({ type: 'get_state' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  const after = await peer.ok({ type: 'get_state' });

  expect([before.messageCount, messages.length, after.messageCount]).toEqual([4, 4, 4]);
});

verifies('G10', 'messageCount is the number of messages after a compaction, whatever it kept', async ({ open }) => {
  const home = newHome();
  const compaction = (id: string, parentId: string, firstKeptEntryId: string) =>
    entry('compaction', id, parentId, { summary: 'short', firstKeptEntryId, tokensBefore: 10 });
  const again = (id: string, parentId: string) => ({ ...(shortConversation(home.cwd)[1] as object), id, parentId });
  const blank = entry('branch_summary', '44444444', '33333333', { fromId: 'root', summary: '' });
  const start = [
    ...shortConversation(home.cwd),
    compaction('11111111', 'bbbbbbbb', 'bbbbbbbb'),
    again('22222222', '11111111'),
  ];
  const files = {
    known: start,
    unknown: [...shortConversation(home.cwd), compaction('11111111', 'bbbbbbbb', 'nobody'), again('22222222', '11111111')],
    twice: [...start, compaction('33333333', '22222222', 'aaaaaaaa'), blank],
  };

  const counts: Record<string, unknown> = {};
  for (const [name, lines] of Object.entries(files)) {
    const path = storeSession(home, lines, { name: `${name}.jsonl` });
    const { peer } = await open({ home, args: ['--session', path] });
    const { messageCount } = await peer.ok({ type: 'get_state' });
    const { messages } = await peer.ok({ type: 'get_messages' });
    counts[name] = [messageCount, messages.map(({ role }: { role: string }) => role)];
  }

  expect(counts).toEqual({
    known: [3, ['compactionSummary', 'assistant', 'user']],
    unknown: [2, ['compactionSummary', 'user']],
    twice: [4, ['compactionSummary', 'user', 'assistant', 'user']],
  });
});

verifies('G11 G12', 'the messages of both queues are counted, under both names', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'a ' }, { stall: true }] }] });
  await peer.ok({ type: 'prompt', message: 'wait' });
  await peer.next('message_update');

  await peer.ok({ type: 'steer', message: 'left' });
  await peer.ok({ type: 'follow_up', message: 'then' });
  await peer.ok({ type: 'follow_up', message: 'and then' });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 3, queuedMessageCount: 3 });
  await peer.ok({ type: 'clear_queue' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 0, queuedMessageCount: 0 });
});

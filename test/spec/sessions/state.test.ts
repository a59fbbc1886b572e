import { expect } from 'vitest';
import { openAfterTwoTurns } from '../../support/agent/compaction.ts';
import { fixture, nextUiRequest } from '../../support/agent/extensions.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { AGENT_SWITCHES_SESSION, LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

verifies(
  'G1 G2 G3 G5 G6 G7 G8 G10 G11 G12 G13 G14 G15 D16',
  'get_state of a fresh agent returns the whole state',
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
      approvalMode: 'full',
      approvalModes: ['plan', 'ask', 'edit', 'auto', 'full'],
      sandbox: { status: 'off' },
    });
    expect(models[0]).toMatchObject({ provider: 'tau', id: 'scripted' });
  },
);

verifies('G4 C18', 'isCompacting is true while the context is compacted', async ({ open }) => {
  const gate = newGate();
  const { peer } = await openAfterTwoTurns(open, [{ steps: [{ await: gate.path }, { text: 'the gist' }] }]);
  const compacted = peer.ok({ type: 'compact' });
  await peer.next('compaction_start');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isCompacting: true, isStreaming: false });
  gate.open();
  await compacted;

  expect((await peer.ok({ type: 'get_state' })).isCompacting).toBe(false);
});

verifies('G9', 'autoCompactionEnabled follows set_auto_compaction', async ({ open }) => {
  const { peer } = await open();

  for (const enabled of [false, true]) {
    await peer.ok({ type: 'set_auto_compaction', enabled });
    expect((await peer.ok({ type: 'get_state' })).autoCompactionEnabled).toBe(enabled);
  }
});

verifies('G16', 'pendingUi lists every dialog until it is answered', async ({ open }) => {
  const { peer } = await open({ args: ['-e', fixture('ui-probe')] });
  const prompts = ['/probe ["select","Which?",["a","b"]]', '/probe ["confirm","Sure?","Really"]'];
  const responses = prompts.map((message) => peer.ok({ type: 'prompt', message }));
  const select = await nextUiRequest(peer, 'select');
  const confirm = await nextUiRequest(peer, 'confirm');

  const { pendingUi } = await peer.ok({ type: 'get_state' });
  peer.send({ type: 'extension_ui_response', id: select.id, value: 'a' });
  const { pendingUi: afterOne } = await peer.ok({ type: 'get_state' });
  peer.send({ type: 'extension_ui_response', id: confirm.id, confirmed: true });
  await Promise.all(responses);

  expect(pendingUi).toMatchObject([
    { id: select.id, method: 'select', title: 'Which?', options: ['a', 'b'] },
    { id: confirm.id, method: 'confirm', title: 'Sure?', message: 'Really' },
  ]);
  expect(afterOne).toMatchObject([{ id: confirm.id }]);
  expect((await peer.ok({ type: 'get_state' })).pendingUi).toEqual([]);
});

verifies(
  'G6 G8 D16',
  'get_state omits fields without a value',
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

verifies('G1 D16', 'an unavailable model is null, and prompts fail with the reason', async ({ open }) => {
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

verifies('G2', 'an unknown stored thinking level becomes a valid one', async ({ open }) => {
  const home = newHome();
  const change = entry('model_change', '11111111', 'bbbbbbbb', { provider: 'anthropic', modelId: 'claude-sonnet-4' });
  const level = entry('thinking_level_change', '22222222', '11111111', { thinkingLevel: 'ultra' });
  const path = storeSession(home, [...shortConversation(home.cwd), change, level]);
  const { peer } = await open({ home, args: ['--session', path] });

  const { thinkingLevel } = await peer.ok({ type: 'get_state' });

  expect(thinkingLevel).toBe('medium');
});

verifies('G3 G15', 'isStreaming is true and isIdle false for the whole run', async ({ open }) => {
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

verifies('G3 G15', 'a run counts as active while a tool runs', async ({ open }) => {
  const { peer } = await open({
    script: [{ steps: [{ toolCall: { name: 'bash', arguments: { command: 'sleep 1000' } } }] }],
  });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.next('tool_execution_start');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true, isIdle: false });
});

const modes = { steeringMode: 'all', followUpMode: 'all', interruptMode: 'immediate' };

verifies('G5 G13', 'get_state returns the modes that were set', async ({ open }) => {
  const { peer } = await open();

  await peer.ok({ type: 'set_steering_mode', mode: 'all' });
  await peer.ok({ type: 'set_follow_up_mode', mode: 'all' });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject(modes);
});

verifies(
  'G5 G13',
  'the modes apply to the next session',
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

verifies('G10', 'messageCount equals the number of messages, before and after they are loaded', async ({ open }) => {
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

verifies('G10', 'messageCount equals the number of messages after a compaction', async ({ open }) => {
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
    unknown: [
      ...shortConversation(home.cwd),
      compaction('11111111', 'bbbbbbbb', 'nobody'),
      again('22222222', '11111111'),
    ],
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

verifies('G11 G12', 'both queue counts include the messages of both queues', async ({ open }) => {
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

import { expect } from 'vitest';
import { NO_RETRY, newHome } from '../../support/agent/test-agent.ts';
import {
  assistantMessage,
  entry,
  header,
  shortConversation,
  storeSession,
  usage,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const counted = { input: 900, output: 50, cacheRead: 30, cacheWrite: 20 };

verifies('G21 G23 G24 G26', 'statistics count messages, tool calls, tokens and cost', async ({ open }) => {
  const calls = ['call_1', 'call_2'].map((id) => ({ toolCall: { id, name: 'bash', arguments: { command: 'true' } } }));
  const { peer } = await open({
    script: [{ steps: [...calls, { usage: counted }] }, { steps: [{ text: 'done' }, { usage: counted }] }],
  });
  await peer.run('work');

  const stats = await peer.ok({ type: 'get_session_stats' });

  const { sessionId, sessionFile } = await peer.ok({ type: 'get_state' });
  expect(stats).toEqual({
    sessionFile,
    sessionId,
    userMessages: 1,
    assistantMessages: 2,
    toolCalls: 2,
    toolResults: 2,
    totalMessages: 5,
    tokens: { input: 1800, output: 100, cacheRead: 60, cacheWrite: 40, total: 2000 },
    cost: 0,
    contextUsage: { tokens: 1000, contextWindow: 200_000, percent: 0.5 },
  });
});

verifies(
  'G21 G22 D16',
  'an empty session without a file has zeros and no sessionFile',
  async ({ open }) => {
    const { peer } = await open({ args: ['--no-session'] });

    const stats = await peer.ok({ type: 'get_session_stats' });

    const { sessionId } = await peer.ok({ type: 'get_state' });
    expect(stats).toEqual({
      sessionId,
      userMessages: 0,
      assistantMessages: 0,
      toolCalls: 0,
      toolResults: 0,
      totalMessages: 0,
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      cost: 0,
      contextUsage: { tokens: 0, contextWindow: 200_000, percent: 0 },
    });
  },
  LOCAL_TRANSPORTS,
);

verifies('G24 G25', 'usage before reopening and on other branches counts', async ({ open }) => {
  const home = newHome();
  const cost = (total: number) => ({ input: total, output: 0, cacheRead: 0, cacheWrite: 0, total });
  const spent = (id: string, parentId: string, total: number) =>
    entry('message', id, parentId, { message: assistantMessage({ usage: { ...usage(100, 10), cost: cost(total) } }) });
  const path = storeSession(home, [
    header(home.cwd),
    userEntry('00000001', null, 'first'),
    spent('00000002', '00000001', 0.25),
    spent('00000003', '00000001', 0.5),
  ]);
  const { peer } = await open({
    home,
    args: ['--session', path],
    script: [{ steps: [{ text: 'x' }, { usage: counted }] }],
  });
  const before = await peer.ok({ type: 'get_session_stats' });

  await peer.run('more');

  expect(before).toMatchObject({ cost: 0.75, tokens: { input: 200, output: 20, total: 220 }, assistantMessages: 2 });
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({
    cost: 0.75,
    tokens: { input: 1100, output: 70, cacheRead: 30, cacheWrite: 20, total: 1220 },
    assistantMessages: 3,
    userMessages: 2,
    totalMessages: 5,
  });
});

verifies('G24', 'aborted and failed assistant messages count', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [
      { steps: [{ usage: counted }, { text: 'half ' }, { stall: true }] },
      { steps: [{ usage: counted }, { text: 'half ' }, { cut: true }] },
    ],
  });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.next((record) => record.type === 'message_update' && JSON.stringify(record).includes('half'));
  await peer.ok({ type: 'abort' });
  await peer.run('second');

  const stats = await peer.ok({ type: 'get_session_stats' });

  expect(stats).toMatchObject({
    assistantMessages: 2,
    userMessages: 2,
    tokens: { input: 1800, output: 100, total: 2000 },
  });
});

verifies('G26 G27', 'contextUsage is that of the last assistant message, not the sum', async ({ open }) => {
  const { peer } = await open({
    script: [
      { steps: [{ text: 'one' }, { usage: counted }] },
      { steps: [{ text: 'two' }, { usage: { input: 3900, output: 100 } }] },
    ],
  });
  await peer.run('first');
  await peer.run('second');

  const { tokens, contextUsage } = await peer.ok({ type: 'get_session_stats' });

  expect(tokens.total).toBe(5000);
  expect(contextUsage).toEqual({ tokens: 4000, contextWindow: 200_000, percent: 2 });
});

verifies('G26 G27', 'contextUsage percent follows the context window of the model', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'one' }, { usage: { input: 4000, output: 96 } }] }] });
  await peer.run('first');

  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });

  const { contextUsage } = await peer.ok({ type: 'get_session_stats' });
  expect(contextUsage).toEqual({ tokens: 4096, contextWindow: 8192, percent: 50 });
});

verifies('G28 D16', 'without a model there is no contextUsage', async ({ open }) => {
  const home = newHome();
  const change = entry('model_change', '11111111', 'bbbbbbbb', { provider: 'anthropic', modelId: 'claude-sonnet-4' });
  const { peer } = await open({
    home,
    args: ['--session', storeSession(home, [...shortConversation(home.cwd), change])],
  });

  const stats = await peer.ok({ type: 'get_session_stats' });

  expect(stats).not.toHaveProperty('contextUsage');
  expect(stats).toMatchObject({ userMessages: 1, assistantMessages: 1, tokens: { total: 15 } });
});

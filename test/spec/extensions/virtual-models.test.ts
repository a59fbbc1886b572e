import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import { fastRetryHome } from '../../support/agent/compaction.ts';
import { allNotifications, bash, homeWithCommands, nextNotification } from '../../support/agent/extensions.ts';
import { readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

/** Code that registers `router/auto` with this body of its route function. */
const virtual = (body: string, fields = '') => `pi.registerVirtualModel({
  provider: 'router', id: 'auto', name: 'Auto', ${fields}
  async route(request, ctx) { const { model, thinkingLevel, reason, previous, failed, state, messages, signal } = request; ${body} },
});`;

const scripted = (id = 'scripted') => `ctx.modelRegistry.find('tau', '${id}')`;

const args = ['--model', 'router/auto'];

const answersOf = async (peer: Peer) =>
  (await peer.ok({ type: 'get_messages' })).messages.filter(({ role }: { role: string }) => role === 'assistant');

verifies('X74', 'each request goes to the model that the router returns', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    virtual(
      `tell(ctx, [model.id, thinkingLevel, reason, previous?.model.id, messages.map(({ role }) => role)]);
      return reason === 'user'
        ? { model: ${scripted()}, thinkingLevel: 'high' }
        : { model: ${scripted('scripted-small')}, thinkingLevel: 'high' };`,
      "thinkingLevels: ['low', 'high'],",
    ),
  );
  const { peer } = await open({
    home,
    args: [...args, '--thinking', 'high'],
    script: [bash('true'), { text: 'done' }],
  });

  await peer.run('go');

  expect(allNotifications(peer)).toEqual([
    ['auto', 'high', 'user', null, ['system', 'user']],
    ['auto', 'high', 'continuation', 'scripted', ['system', 'user', 'assistant', 'toolResult']],
  ]);
  expect(await answersOf(peer)).toMatchObject([
    { provider: 'tau', model: 'scripted', api: 'tau-scripted', thinkingLevel: 'high' },
    { provider: 'tau', model: 'scripted-small', thinkingLevel: 'off' },
  ]);
  const state = await peer.ok({ type: 'get_state' });
  expect(state).toMatchObject({ model: { provider: 'router', id: 'auto' }, thinkingLevel: 'high' });
  // The limits are those of the model that answered last.
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ contextUsage: { contextWindow: 8192 } });
});

verifies('X75', 'a virtual model is listed and chosen like any other', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    virtual(
      `return { model: ${scripted()}, thinkingLevel: 'off' };`,
      "thinkingLevels: ['off', 'medium'], contextWindow: 1000,",
    ),
  );
  const { peer } = await open({ home, script: [{ text: 'done' }] });
  await peer.ok({ type: 'get_commands' });

  const { models } = await peer.ok({ type: 'get_available_models' });
  await peer.ok({ type: 'set_model', provider: 'router', modelId: 'auto' });
  await peer.ok({ type: 'set_thinking_level', level: 'high' });
  const { thinkingLevel } = await peer.ok({ type: 'get_state' });
  const { levels } = await peer.ok({ type: 'get_available_thinking_levels' });
  await peer.run('go');

  expect(models).toContainEqual(expect.objectContaining({ provider: 'router', id: 'auto', contextWindow: 1000 }));
  expect(thinkingLevel).toBe('medium');
  expect(levels).toEqual(['off', 'medium']);
  expect(await answersOf(peer)).toMatchObject([{ provider: 'tau', model: 'scripted' }]);
});

verifies('X76', 'the state of a router is kept on the branch', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    virtual(`tell(ctx, state ?? null);
      const next = (state?.count ?? 0) + 1;
      return { model: ${scripted()}, thinkingLevel: 'off', state: next > 2 ? state : { count: next } };`),
  );
  const { peer, sessionFiles } = await open({ home, args, script: ['a', 'b', 'c'].map((text) => ({ text })) });

  for (const message of ['one', 'two', 'three']) await peer.run(message);

  expect(allNotifications(peer)).toEqual([null, { count: 1 }, { count: 2 }]);
  const states = readSessionFile(sessionFiles()[0] ?? '').filter(
    ({ customType }) => customType === 'pi.virtual-model-state',
  );
  expect(states.map(({ data }) => data)).toEqual([
    { provider: 'router', modelId: 'auto', state: { count: 1 } },
    { provider: 'router', modelId: 'auto', state: { count: 2 } },
  ]);
});

verifies('X77', 'a retry gives the router the failed response', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    virtual(`tell(ctx, [reason, failed?.model.id, failed?.message.errorMessage]);
      return { model: failed ? ${scripted('scripted-small')} : ${scripted()}, thinkingLevel: 'off' };`),
    fastRetryHome(),
  );
  const { peer } = await open({ home, args, script: [{ error: { status: 529, message: 'busy' } }, { text: 'done' }] });

  await peer.run('go');

  expect(allNotifications(peer)).toMatchObject([
    ['user', null, null],
    ['retry', 'scripted', expect.stringContaining('busy')],
  ]);
  expect(await answersOf(peer)).toMatchObject([{ model: 'scripted-small', stopReason: 'stop' }]);
});

for (const [name, body, error] of [
  ['throws', "throw new Error('no idea');", 'no idea'],
  ['returns nothing', '', 'names no model'],
  ['returns a virtual model', "return { model: request.model, thinkingLevel: 'off' };", 'virtual'],
  [
    'returns a model without a key',
    "return { model: { provider: 'openai', id: 'gpt-5' }, thinkingLevel: 'off' };",
    'openai',
  ],
] as const) {
  verifies('X77', `a router that ${name} fails the run`, async ({ open }) => {
    const { home } = homeWithCommands({}, virtual(body));
    const { peer } = await open({ home, args, script: [{ text: 'never' }] });

    const records = await peer.run('go');

    expect(records.at(-1)).toMatchObject({
      type: 'agent_settled',
      outcome: 'error',
      errorMessage: expect.stringContaining(error),
    });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { id: 'auto' }, isIdle: true });
  });
}

verifies('X77', 'an abort does not wait for a router, and reaches it', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    virtual(`tell(ctx, 'routes');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      tell(ctx, 'aborted');
      return new Promise(() => {});`),
  );
  const { peer } = await open({ home, args, script: [{ text: 'never' }] });

  const run = peer.run('go');
  await nextNotification(peer);
  await peer.ok({ type: 'abort' });

  expect((await run).at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'aborted' });
  expect(allNotifications(peer)).toContain('aborted');
});

verifies(
  'X78',
  'a resumed session has its virtual model again, or without it the model that answered',
  async ({ open }) => {
    const { home, path } = homeWithCommands(
      {},
      virtual(`return { model: ${scripted('scripted-small')}, thinkingLevel: 'off' };`),
    );
    const first = await open({ home, args, script: [{ text: 'one' }] });
    await first.peer.run('go');
    const [file = ''] = first.sessionFiles();
    await first.close();

    const second = await open({ home, args: ['--session', file], script: [{ text: 'two' }] });
    await second.peer.ok({ type: 'get_commands' });
    const resumed = await second.peer.ok({ type: 'get_state' });
    await second.close();
    rmSync(path);
    const third = await open({ home, args: ['--session', file] });
    const without = await third.peer.ok({ type: 'get_state' });

    expect(resumed).toMatchObject({ model: { provider: 'router', id: 'auto' } });
    expect(without).toMatchObject({ model: { provider: 'tau', id: 'scripted-small' } });
  },
  LOCAL_TRANSPORTS,
);

verifies('X77', 'a model call of an extension routes with the reason direct', async ({ open }) => {
  const { home } = homeWithCommands(
    {
      call: `const answer = await ctx.modelRegistry.complete(ctx.modelRegistry.find('router', 'auto'), { systemPrompt: 'Hi', messages: [{ role: 'user', content: 'x', timestamp: 1 }] });
        tell(ctx, [answer.provider, answer.model, answer.content[0].text]);`,
    },
    virtual(
      `tell(ctx, [reason, state ?? null]); return { model: ${scripted()}, thinkingLevel: 'off', state: { ignored: true } };`,
    ),
  );
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'direct answer' }] });

  await peer.ok({ type: 'prompt', message: '/call' });

  expect(allNotifications(peer)).toEqual([
    ['direct', null],
    ['tau', 'scripted', 'direct answer'],
  ]);
  expect(JSON.stringify(readSessionFile(sessionFiles()[0] ?? ''))).not.toContain('virtual-model-state');
});

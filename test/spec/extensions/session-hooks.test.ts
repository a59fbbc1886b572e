import { expect, it } from 'vitest';
import { openAgent } from '../../../src/index.ts';
import { type Hooks, neverReturns, openWithHooks } from '../../support/agent/hooked-agent.ts';

it('sessionStart runs after the client connects; get_state does not wait for it, a prompt does', async () => {
  const order: string[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { client } = await openWithHooks({
    sessionStart: async ({ reason }) => {
      await released;
      order.push(`started ${reason}`);
    },
  });

  const prompt = client.prompt({ message: 'say hello' }).then(() => order.push('prompted'));
  expect((await client.getState()).isIdle).toBe(true);
  order.push('read');
  release();
  await prompt;

  expect(order).toEqual(['read', 'started startup', 'prompted']);
});

it('session hooks get source and target, and sessionShutdown runs once per session', async () => {
  const calls: unknown[] = [];
  const recordCall = (name: string) => async (event: unknown) => {
    calls.push([name, event]);
    return undefined;
  };
  const { client, close } = await openWithHooks(
    {
      sessionStart: recordCall('start'),
      sessionShutdown: recordCall('shutdown'),
      beforeSwitch: recordCall('switch'),
      beforeFork: recordCall('fork'),
    } as Hooks,
    { keep: true },
  );
  await client.promptAndWait('say hello');
  const { sessionFile: first } = await client.getState();

  const { sessionFile: second } = await client.newSession();
  await client.switchSession({ sessionPath: first ?? '' });
  const [forkMessage] = (await client.getForkMessages()).messages;
  const { sessionFile: third } = await client.fork({ entryId: forkMessage?.entryId ?? '' });
  await close();
  await close();

  expect(calls).toEqual([
    ['start', { reason: 'startup' }],
    ['switch', { reason: 'new' }],
    ['shutdown', { reason: 'new', targetSessionFile: second }],
    ['start', { reason: 'new', previousSessionFile: first }],
    ['switch', { reason: 'resume', targetSessionFile: first }],
    ['shutdown', { reason: 'resume', targetSessionFile: first }],
    ['start', { reason: 'resume', previousSessionFile: second }],
    ['fork', { entryId: forkMessage?.entryId, position: 'before' }],
    ['shutdown', { reason: 'fork', targetSessionFile: third }],
    ['start', { reason: 'fork', previousSessionFile: first }],
    ['shutdown', { reason: 'quit' }],
  ]);
});

it('modelSelect and thinkingLevelSelect run before the next session command', async () => {
  const calls: unknown[] = [];
  const { client } = await openWithHooks({
    modelSelect: async ({ model, previousModel, source }) => {
      await client.getState();
      calls.push([source, previousModel?.id, model.id]);
    },
    thinkingLevelSelect: async ({ level, previousLevel }) => {
      calls.push([previousLevel, level]);
    },
  });
  const { model, thinkingLevel } = await client.getState();

  await client.setThinkingLevel({ level: 'low' });
  await client.setModel({ provider: 'tau', modelId: 'scripted-small' });
  await client.setSessionName({ name: 'waits' });

  expect(calls).toEqual([
    [thinkingLevel, 'low'],
    ['set', model?.id, 'scripted-small'],
    ['low', 'off'],
  ]);
});

it.each(['sessionStart', 'sessionShutdown', 'beforeSwitch', 'modelSelect', 'thinkingLevelSelect'] as const)(
  'a %s hook that rejects is ignored',
  async (name) => {
    const { client, close } = await openWithHooks({ [name]: () => Promise.reject(new Error('no')) }, { keep: true });
    await client.promptAndWait('say hello');
    const { sessionFile: first } = await client.getState();

    const { sessionFile } = await client.newSession();
    await client.setModel({ provider: 'tau', modelId: 'scripted-small' });

    expect((await client.getState()).sessionFile).toBe(sessionFile);
    expect(sessionFile).not.toBe(first);
    await close();
  },
);

it.each(['beforeSwitch', 'beforeFork'] as const)(
  'an abort cancels a session change that waits for %s',
  async (name) => {
    const { called, wait } = neverReturns();
    const { client } = await openWithHooks({ [name]: wait });
    await client.promptAndWait('say hello');
    const move = name === 'beforeFork' ? client.clone() : client.newSession();
    await called;

    await client.abort();

    expect(await move).toEqual({ cancelled: true });
    expect((await client.promptAndWait('say more')).settled).toMatchObject({ outcome: 'ok' });
  },
);

it('close waits a limited time for sessionShutdown, then releases the session', async () => {
  const { client, close, home } = await openWithHooks({ sessionShutdown: () => new Promise(() => {}) }, { keep: true });
  await client.promptAndWait('say hello');
  const { sessionFile } = await client.getState();

  await close();

  const reopened = await openAgent({ cwd: home.cwd, agentDir: home.agentDir, session: sessionFile ?? '' });
  expect((await reopened.client.getState()).messageCount).toBe(2);
  await reopened.close();
});

it('a session command waits for a running modelSelect hook', async () => {
  const order: string[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { client } = await openWithHooks({
    beforeSwitch: async () => {
      await released;
      return undefined;
    },
    modelSelect: async () => {
      await client.getState();
      order.push('selected');
    },
  });

  const commands = [
    client.newSession(),
    client.setModel({ provider: 'tau', modelId: 'scripted-small' }),
    client.setSessionName({ name: 'later' }).then(() => order.push('named')),
  ];
  release();
  await Promise.all(commands);

  expect(order).toEqual(['selected', 'named']);
});

it('a hook that throws synchronously is ignored', async () => {
  const fails = () => {
    throw new Error('at once');
  };
  const { client, close } = await openWithHooks({ sessionStart: fails, sessionShutdown: fails, beforeSwitch: fails });

  expect(await client.newSession()).toMatchObject({ cancelled: false });
  expect((await client.promptAndWait('say hello')).settled).toMatchObject({ outcome: 'ok' });
  await close();
});

it('a session change waits a limited time for sessionShutdown', async () => {
  const { client } = await openWithHooks({ sessionShutdown: () => new Promise(() => {}) });

  expect(await client.newSession()).toMatchObject({ cancelled: false });
});

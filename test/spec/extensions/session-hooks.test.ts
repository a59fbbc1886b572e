import { expect, it } from 'vitest';
import { openAgent } from '../../../src/index.ts';
import { type Hooks, openWithHooks, neverReturns } from '../../support/agent/hooked-agent.ts';

it('sessionStart comes after the client is there; the state can be read meanwhile, a prompt waits', async () => {
  const order: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { client } = await openWithHooks({
    sessionStart: async ({ reason }) => {
      await opened;
      order.push(`started ${reason}`);
    },
  });

  const prompt = client.prompt({ message: 'say hello' }).then(() => order.push('prompted'));
  expect((await client.getState()).isIdle).toBe(true);
  order.push('read');
  open();
  await prompt;

  expect(order).toEqual(['read', 'started startup', 'prompted']);
});

it('session moves tell the hooks where from and where to, and the end is told once', async () => {
  const told: unknown[] = [];
  const note = (name: string) => async (event: unknown) => {
    told.push([name, event]);
    return undefined;
  };
  const { client, close } = await openWithHooks(
    {
      sessionStart: note('start'),
      sessionShutdown: note('shutdown'),
      beforeSwitch: note('switch'),
      beforeFork: note('fork'),
    } as Hooks,
    { keep: true },
  );
  await client.promptAndWait('say hello');
  const { sessionFile: first } = await client.getState();

  const { sessionFile: second } = await client.newSession();
  await client.switchSession({ sessionPath: first ?? '' });
  const [said] = (await client.getForkMessages()).messages;
  const { sessionFile: third } = await client.fork({ entryId: said?.entryId ?? '' });
  await close();
  await close();

  expect(told).toEqual([
    ['start', { reason: 'startup' }],
    ['switch', { reason: 'new' }],
    ['shutdown', { reason: 'new', targetSessionFile: second }],
    ['start', { reason: 'new', previousSessionFile: first }],
    ['switch', { reason: 'resume', targetSessionFile: first }],
    ['shutdown', { reason: 'resume', targetSessionFile: first }],
    ['start', { reason: 'resume', previousSessionFile: second }],
    ['fork', { entryId: said?.entryId, position: 'before' }],
    ['shutdown', { reason: 'fork', targetSessionFile: third }],
    ['start', { reason: 'fork', previousSessionFile: first }],
    ['shutdown', { reason: 'quit' }],
  ]);
});

it('model and thinking level are told after they changed; the next session command waits for that', async () => {
  const told: unknown[] = [];
  const { client } = await openWithHooks({
    modelSelect: async ({ model, previousModel, source }) => {
      await client.getState();
      told.push([source, previousModel?.id, model.id]);
    },
    thinkingLevelSelect: async ({ level, previousLevel }) => {
      told.push([previousLevel, level]);
    },
  });
  const { model, thinkingLevel } = await client.getState();

  await client.setThinkingLevel({ level: 'low' });
  await client.setModel({ provider: 'tau', modelId: 'scripted-small' });
  await client.setSessionName({ name: 'waits' });

  expect(told).toEqual([
    [thinkingLevel, 'low'],
    ['set', model?.id, 'scripted-small'],
    ['low', 'off'],
  ]);
});

it.each(['sessionStart', 'sessionShutdown', 'beforeSwitch', 'modelSelect', 'thinkingLevelSelect'] as const)(
  'a %s hook that rejects is passed over',
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

it.each(['beforeSwitch', 'beforeFork'] as const)('an abort cancels a move that waits for %s', async (name) => {
  const { called, wait } = neverReturns();
  const { client } = await openWithHooks({ [name]: wait });
  await client.promptAndWait('say hello');
  const move = name === 'beforeFork' ? client.clone() : client.newSession();
  await called;

  await client.abort();

  expect(await move).toEqual({ cancelled: true });
  expect((await client.promptAndWait('say more')).settled).toMatchObject({ outcome: 'ok' });
});

it('the end waits for sessionShutdown, but not for ever; then the session is free', async () => {
  const { client, close, home } = await openWithHooks({ sessionShutdown: () => new Promise(() => {}) }, { keep: true });
  await client.promptAndWait('say hello');
  const { sessionFile } = await client.getState();

  await close();

  const again = await openAgent({ cwd: home.cwd, agentDir: home.agentDir, session: sessionFile ?? '' });
  expect((await again.client.getState()).messageCount).toBe(2);
  await again.close();
});

it('a command that begins while the hooks hear of a new model waits for that, wherever it came from', async () => {
  const order: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { client } = await openWithHooks({
    beforeSwitch: async () => {
      await opened;
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
  open();
  await Promise.all(commands);

  expect(order).toEqual(['selected', 'named']);
});

it('a hook that throws at once is passed over like one that rejects', async () => {
  const fails = () => {
    throw new Error('at once');
  };
  const { client, close } = await openWithHooks({ sessionStart: fails, sessionShutdown: fails, beforeSwitch: fails });

  expect(await client.newSession()).toMatchObject({ cancelled: false });
  expect((await client.promptAndWait('say hello')).settled).toMatchObject({ outcome: 'ok' });
  await close();
});

it('a move waits for sessionShutdown, but not for ever', async () => {
  const { client } = await openWithHooks({ sessionShutdown: () => new Promise(() => {}) });

  expect(await client.newSession()).toMatchObject({ cancelled: false });
});

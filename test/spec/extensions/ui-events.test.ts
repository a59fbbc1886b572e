import { expect } from 'vitest';
import {
  allNotifications,
  allUiRequests,
  answerDialog,
  homeWithCommands,
  nextNotification,
} from '../../support/agent/extensions.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

verifies('X67 X13', 'custom returns undefined and warns once', async ({ open }) => {
  const { home, path } = homeWithCommands({ show: "tell(ctx, [typeof (await ctx.ui.custom(() => ({}))), 'ok']);" });
  const { peer } = await open({ home });

  for (let count = 0; count < 2; count++) await peer.ok({ type: 'prompt', message: '/show' });

  expect(allNotifications(peer)).toEqual([
    ['undefined', 'ok'],
    ['undefined', 'ok'],
  ]);
  expect(peer.records.filter(({ type }) => type === 'warning')).toMatchObject([
    { source: 'extension', message: `${path}: ui.custom() needs a terminal and returned undefined` },
  ]);
});

verifies('X68', 'other handlers receive the start and the end of a dialog', async ({ open }) => {
  const { home } = homeWithCommands(
    { ask: "await Promise.all([ctx.ui.confirm('Sure?', 'really'), ctx.ui.input('Name?')]); tell(ctx, 'asked');" },
    `const seen = [];
    for (const name of ['ui_prompt_start', 'ui_prompt_end']) pi.on(name, ({ type, reason, kind, title }) => seen.push([type, reason, kind, title]));
    pi.registerCommand('seen', { handler: async (args, ctx) => tell(ctx, seen) });`,
  );
  const { peer } = await open({ home });

  const prompt = peer.request({ type: 'prompt', message: '/ask' });
  await answerDialog(peer, 'confirm', { confirmed: true });
  await answerDialog(peer, 'input', { value: 'Ada' });
  await prompt;
  // The response does not wait for the end of the command.
  expect(await nextNotification(peer)).toBe('asked');
  await peer.ok({ type: 'prompt', message: '/seen' });

  expect(await nextNotification(peer)).toEqual([
    ['ui_prompt_start', 'ui_prompt', 'confirm', 'Sure?'],
    ['ui_prompt_end', 'ui_prompt', expect.any(String), expect.any(String)],
  ]);
});

verifies(
  'X69',
  'title, status and widget of session_start follow ready, once each',
  async ({ open }) => {
    const { home } = homeWithCommands(
      {},
      `pi.on('session_start', (_event, ctx) => {
      ctx.ui.setTitle('working');
      ctx.ui.setStatus('mode', 'plan');
      ctx.ui.setWidget('todo', ['one']);
    });`,
    );
    const { peer } = await open({ home, script: [{ text: 'done' }] });

    await peer.run('go');

    expect(peer.records[0]).toMatchObject({ type: 'ready' });
    expect(allUiRequests(peer, 'setTitle')).toMatchObject([{ title: 'working' }]);
    expect(allUiRequests(peer, 'setStatus')).toMatchObject([{ statusKey: 'mode', statusText: 'plan' }]);
    expect(allUiRequests(peer, 'setWidget')).toMatchObject([{ widgetKey: 'todo', widgetLines: ['one'] }]);
  },
  LOCAL_TRANSPORTS,
);

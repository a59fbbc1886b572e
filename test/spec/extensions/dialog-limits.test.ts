import { expect, it } from 'vitest';
import { MAX_DIALOGS } from '../../../src/extend/dialogs.ts';
import {
  allUiRequests,
  bash,
  homeWithCommands,
  nextNotification,
  nextUiRequest,
  userExtension,
} from '../../support/agent/extensions.ts';
import {
  connectWhenListening,
  newHome,
  openTestAgent as openOn,
  writeSettings,
} from '../../support/agent/test-agent.ts';
import { Peer } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

verifies('X8', 'dialogs over the limit are not shown and return undefined', async ({ open }) => {
  const { home } = homeWithCommands({
    many: `const asked = Array.from({ length: ${MAX_DIALOGS} + 1 }, (_, index) => ctx.ui.input('Name ' + index));
      tell(ctx, (await asked.at(-1)) ?? null);
      await Promise.all(asked);`,
  });
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/many' });

  expect(await nextNotification(peer)).toBeNull();
  expect((await peer.ok({ type: 'get_state' })).pendingUi).toHaveLength(MAX_DIALOGS);
  await peer.ok({ type: 'abort' });
  expect((await peer.ok({ type: 'get_state' })).pendingUi).toEqual([]);
});

verifies('X42', 'a malformed response closes the dialog with its default', async ({ open }) => {
  const { home } = homeWithCommands({
    ask: "tell(ctx, [await ctx.ui.confirm('Sure?', ''), (await ctx.ui.input('Name?')) ?? null]);",
  });
  const { peer } = await open({ home });
  await peer.ok({ type: 'prompt', message: '/ask' });

  for (const [method, reply] of [
    ['confirm', { confirmed: 'yes' }],
    ['input', { value: 5 }],
  ] as const) {
    const { id } = await nextUiRequest(peer, method);
    peer.send({ type: 'extension_ui_response', id, ...reply });
  }

  expect(await nextNotification(peer)).toEqual([false, null]);
});

it('[X10] a dialog that the only stdio client does not support takes its default at once', async () => {
  const { home } = homeWithCommands({ ask: "tell(ctx, await ctx.ui.confirm('Sure?', ''));" });
  const { peer } = await openOn('stdio', { home });
  await peer.ok({ type: 'hello', ui: ['select', 'notify'] });

  await peer.ok({ type: 'prompt', message: '/ask' });

  expect(await nextNotification(peer)).toBe(false);
  expect(allUiRequests(peer, 'confirm')).toEqual([]);
});

it('[X8 X31 X33] statuses and widgets are shown again to a client that connects later', async () => {
  const { home } = homeWithCommands({
    show: `ctx.ui.setStatus('kept', 'here'); ctx.ui.setStatus('gone', 'x'); ctx.ui.setStatus('gone', undefined);
      ctx.ui.setWidget('lines', ['a']); ctx.ui.notify('once');`,
  });
  const agent = await openOn('unix', { home });
  await agent.peer.ok({ type: 'prompt', message: '/show' });
  await nextUiRequest(agent.peer, 'notify');
  agent.peer.end();
  await agent.peer.closed();

  const next = new Peer(await connectWhenListening(agent.socketPath ?? ''));
  await next.ok({ type: 'get_state' });

  const requests = next.records.filter(({ type }) => type === 'extension_ui_request');
  expect(requests).toMatchObject([
    { method: 'setStatus', statusKey: 'kept', statusText: 'here' },
    { method: 'setWidget', widgetKey: 'lines', widgetLines: ['a'] },
  ]);
});

verifies('X48', 'a message_update handler that times out is given up after its first update', async ({ open }) => {
  const home = newHome();
  writeSettings(home, { extensionTimeoutMs: 20 });
  userExtension(home, 'hang.ts', "export default (pi) => pi.on('message_update', () => new Promise(() => {}));");
  const textSteps = Array.from({ length: 30 }, (_, index) => ({ text: `word ${index} ` }));
  const { peer } = await open({ home, script: [{ steps: textSteps }] });

  await peer.run('go');

  expect(peer.records.filter(({ type }) => type === 'extension_error')).toHaveLength(1);
});

verifies('X48', 'a tool_call handler that times out blocks every call', async ({ open }) => {
  const home = newHome();
  writeSettings(home, { extensionTimeoutMs: 20 });
  userExtension(home, 'hang.ts', "export default (pi) => pi.on('tool_call', () => new Promise(() => {}));");
  const { peer } = await open({ home, script: [bash('echo one'), bash('echo two'), { text: 'done' }] });

  await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.filter(({ isError }: { isError?: boolean }) => isError === true)).toHaveLength(2);
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

verifies('X56', 'dialogs over the limit are not shown, reported, and return undefined', async ({ open }) => {
  const { home } = homeWithCommands({
    many: `const asked = Array.from({ length: ${MAX_DIALOGS} + 1 }, (_, index) => ctx.ui.input('Name ' + index));
      tell(ctx, (await asked.at(-1)) ?? null);
      await Promise.all(asked);`,
  });
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/many' });

  const { id } = await peer.next(({ type, by }) => type === 'extension_ui_resolved' && by === 'nobody');
  expect(await nextNotification(peer)).toBeNull();
  const { pendingUi } = await peer.ok({ type: 'get_state' });
  expect(pendingUi).toHaveLength(MAX_DIALOGS);
  expect(pendingUi.map((request: { id: string }) => request.id)).not.toContain(id);
  expect(allUiRequests(peer, 'input')).toHaveLength(MAX_DIALOGS);
  await peer.ok({ type: 'abort' });
  expect((await peer.ok({ type: 'get_state' })).pendingUi).toEqual([]);
});

verifies('X41', 'a malformed response closes the dialog with its default', async ({ open }) => {
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

verifies(
  'X54',
  'dialogs.deadlineMs gives a dialog without a timeout a deadline that clients receive',
  async ({ open }) => {
    const { home } = homeWithCommands({
      ask: "tell(ctx, [await ctx.ui.confirm('Sure?', ''), (await ctx.ui.editor('Text?')) ?? null]);",
      own: "tell(ctx, await ctx.ui.confirm('Sure?', '', { timeout: 3_600_000 }));",
    });
    const { peer } = await open({ home, settings: { dialogs: { deadlineMs: 20 } } });

    await peer.ok({ type: 'prompt', message: '/ask' });

    expect(await nextUiRequest(peer, 'confirm')).toMatchObject({ timeout: 20 });
    expect(await peer.next('extension_ui_resolved')).toMatchObject({ by: 'timeout' });
    expect(await nextUiRequest(peer, 'editor')).toMatchObject({ timeout: 20 });
    expect(await nextNotification(peer)).toEqual([false, null]);

    await peer.ok({ type: 'prompt', message: '/own' });
    const { id, timeout } = await nextUiRequest(peer, 'confirm');
    peer.send({ type: 'extension_ui_response', id, confirmed: true });
    expect(timeout).toBe(3_600_000);
    expect(await nextNotification(peer)).toBe(true);
  },
);

verifies(
  'X55',
  'without dialogs.deadlineMs a dialog has no timeout and ends with the abort of its run',
  async (fixture) => {
    const home = newHome();
    userExtension(
      home,
      'gate.ts',
      "export default (pi) => pi.on('tool_call', async (event, ctx) => ({ block: !(await ctx.ui.confirm('Run?', '')) }));",
    );
    const { peer } = await fixture.open({ home, script: [bash('echo one'), { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });

    const request = await nextUiRequest(peer, 'confirm');
    await peer.ok({ type: 'abort' });

    expect(request).not.toHaveProperty('timeout');
    expect((await peer.ok({ type: 'get_state' })).pendingUi).toEqual([]);
    expect(await peer.next('extension_ui_resolved')).toMatchObject({ id: request.id, by: 'abort' });
  },
);

verifies(
  'X55',
  'a dialog of a command ends with its session',
  async ({ open }) => {
    const { home } = homeWithCommands({
      ask: "await (await import('node:fs/promises')).writeFile(ctx.cwd + '/answer', String(await ctx.ui.input('Name?')));",
    });
    const { peer } = await open({ home });
    await peer.ok({ type: 'prompt', message: '/ask' });
    await nextUiRequest(peer, 'input');

    await peer.ok({ type: 'new_session' });

    await expect.poll(() => existsSync(join(home.cwd, 'answer'))).toBe(true);
    expect((await peer.ok({ type: 'get_state' })).pendingUi).toEqual([]);
  },
  AGENT_SWITCHES_SESSION,
);

verifies(
  'X56',
  'a dialog of a client without a user interface takes its default at once and is reported',
  async (fixture) => {
    const { home } = homeWithCommands({
      write:
        "await (await import('node:fs/promises')).writeFile(ctx.cwd + '/answers', JSON.stringify([ctx.hasUI, await ctx.ui.confirm('Sure?', '')]));",
    });
    const { peer } = await fixture.open({ home });
    await peer.ok({ type: 'hello', ui: [] });

    await peer.ok({ type: 'prompt', message: '/write' });

    expect(await peer.next('extension_ui_resolved')).toMatchObject({ id: expect.any(String), by: 'nobody' });
    await expect.poll(() => readFileSync(join(home.cwd, 'answers'), 'utf8')).toBe('[false,false]');
    expect(allUiRequests(peer, 'confirm')).toEqual([]);
    expect((await peer.ok({ type: 'get_state' })).pendingUi).toEqual([]);
  },
);

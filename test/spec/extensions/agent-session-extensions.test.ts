import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentSession } from '../../../src/index.ts';
import { collectEvents, createTestSession, nextEventOfType } from '../../support/agent/agent-session.ts';
import { userExtension, writeTextFile } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';

/** Opens every kind of dialog and stores the results as a custom entry. */
const DIALOG_EXTENSION = `
export default function (pi) {
  pi.on('session_start', async ({ reason }, ctx) => {
    pi.appendEntry('started', { reason, hasUI: ctx.hasUI, name: await ctx.ui.input('Name?', 'Ann') });
  });
  pi.registerCommand('ask', {
    description: 'Asks everything',
    handler: async (args, ctx) => {
      const { ui } = ctx;
      ui.setStatus('asking', 'now');
      ui.setWidget('list', ['one', 'two'], { placement: 'belowEditor' });
      ui.setTitle('Questions');
      ui.setEditorText('draft');
      const answers = {
        select: await ui.select('Which?', ['a', 'b']),
        confirm: await ui.confirm('Sure?', 'Really?'),
        input: await ui.input('Name?', 'Ann'),
        editor: await ui.editor('Text', 'prefilled'),
      };
      pi.appendEntry('answers', answers);
      ui.notify('thanks', 'warning');
    },
  });
  pi.registerCommand('boom', { handler: () => { throw new Error('boom'); } });
  pi.registerCommand('leave', { handler: (args, ctx) => ctx.shutdown() });
  pi.registerTool({ name: 'curious', description: 'x', parameters: { type: 'object' }, execute: async () => ({ content: [] }) });
}`;

function homeWithDialogs() {
  const home = newHome();
  userExtension(home, 'curious.ts', DIALOG_EXTENSION);
  return home;
}

const customEntries = ({ sessionManager }: AgentSession, customType: string) =>
  sessionManager
    .getEntries()
    .flatMap((entry) => (entry.type === 'custom' && entry.customType === customType ? [entry.data] : []));

/** Runs `/ask`; resolves when the extension has stored its results. */
async function runDialogs(session: AgentSession): Promise<void> {
  const done = nextEventOfType(session, 'entry_appended');
  await session.prompt('/ask');
  await done;
}

it('[V15] extensions load with the session, and `session_start` fires with the first prompt', async () => {
  const home = homeWithDialogs();
  const { session, extensionsResult } = await createTestSession({ sessionStartEvent: { reason: 'fork' } }, home);
  const path = join(home.agentDir, 'extensions', 'curious.ts');

  expect(extensionsResult).toMatchObject({ extensions: [{ path, resolvedPath: path }], errors: [] });
  expect([...(extensionsResult.extensions[0]?.commands.keys() ?? [])]).toEqual(['ask', 'boom', 'leave']);
  expect(session.getActiveToolNames()).toContain('curious');
  expect(customEntries(session, 'started')).toEqual([]);

  await session.prompt('say hello');

  expect(customEntries(session, 'started')).toEqual([{ reason: 'fork', hasUI: false }]);
  expect(session.extensionRunner.getExtensionPaths()).toEqual([path]);
  expect(session.extensionRunner.getCommand('ask')).toMatchObject({ description: 'Asks everything' });
  expect([session.hasExtensionHandlers('session_start'), session.hasExtensionHandlers('tool_call')]).toEqual([
    true,
    false,
  ]);
});

it('[V15] without a UI every dialog takes its default at once', async () => {
  const { session } = await createTestSession({}, homeWithDialogs());
  await session.bindExtensions({});

  await runDialogs(session);

  expect(customEntries(session, 'answers')).toEqual([{ confirm: false }]);
  expect(session.extensionRunner.hasUI()).toBe(false);
});

it('[V15] a program that implements the UI context answers dialogs', async () => {
  const { session } = await createTestSession({}, homeWithDialogs());
  const uiCalls: unknown[] = [];
  let resolveThanked = () => {};
  const thanked = new Promise<void>((resolve) => {
    resolveThanked = resolve;
  });

  await session.bindExtensions({
    mode: 'rpc',
    uiContext: {
      select: async (title, options) => `${title} ${options.join()}`,
      confirm: async (title, message) => `${title} ${message}` === 'Sure? Really?',
      input: async (title, placeholder) => `${title} ${placeholder}`,
      editor: async (title, prefill) => `${title} ${prefill}`,
      notify: (...args) => {
        uiCalls.push(args);
        resolveThanked();
      },
      setStatus: (...args) => void uiCalls.push(args),
      setWidget: (...args) => void uiCalls.push(args),
      setTitle: (...args) => void uiCalls.push(args),
      setEditorText: (...args) => void uiCalls.push(args),
    },
  });
  expect(customEntries(session, 'started')).toEqual([{ reason: 'startup', hasUI: true, name: 'Name? Ann' }]);
  await session.prompt('/ask');
  await thanked;

  expect(customEntries(session, 'answers')).toEqual([
    { select: 'Which? a,b', confirm: true, input: 'Name? Ann', editor: 'Text prefilled' },
  ]);
  expect(uiCalls).toEqual([
    ['asking', 'now'],
    ['list', ['one', 'two'], { placement: 'belowEditor' }],
    ['Questions'],
    ['draft'],
    ['thanks', 'warning'],
  ]);
});

it('[V15] a dialog takes its default when the UI context throws or is removed', async () => {
  const { session } = await createTestSession({}, homeWithDialogs());
  await session.bindExtensions({
    uiContext: {
      select: async () => {
        throw new Error('no screen');
      },
    },
  });

  await runDialogs(session);
  await session.bindExtensions({});
  await runDialogs(session);

  expect(customEntries(session, 'answers')).toEqual([{ confirm: false }, { confirm: false }]);
});

it('[V15] `onError` reports extension errors, and `shutdownHandler` runs on ctx.shutdown()', async () => {
  const { session } = await createTestSession({}, homeWithDialogs());
  const failures: unknown[] = [];
  let requestShutdown = () => {};
  const shutdownRequested = new Promise<void>((resolve) => {
    requestShutdown = resolve;
  });
  await session.bindExtensions({ onError: (failure) => failures.push(failure), shutdownHandler: requestShutdown });

  await session.prompt('/boom');
  await session.prompt('/leave');
  await shutdownRequested;

  expect(failures).toEqual([{ extensionPath: 'command:boom', event: 'command', error: 'boom' }]);
  await expect(session.steer('/boom')).rejects.toThrow('cannot be queued');
});

it('[V15] an extension that fails to load is reported, and the other extensions work', async () => {
  const home = homeWithDialogs();
  const failingPath = userExtension(home, 'broken.ts', 'throw new Error("not today");');
  const { session, extensionsResult } = await createTestSession({}, home);

  expect(extensionsResult.errors).toEqual([{ path: failingPath, error: expect.stringContaining('not today') }]);
  expect(extensionsResult.extensions).toHaveLength(1);

  writeTextFile(failingPath, 'export default function (pi) { pi.registerCommand("mended", { handler() {} }); }');
  const events = collectEvents(session);
  await session.reload();

  expect(session.resourceLoader.getExtensions()).toMatchObject({ extensions: [{}, {}], errors: [] });
  expect(session.extensionRunner.getRegisteredCommands().map(({ name }) => name)).toContain('mended');
  expect(events.filter(({ type }) => type === 'extension_error')).toEqual([]);
});

import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentSession } from '../../../src/index.ts';
import { createTestSession, collectEvents, nextEventOfType } from '../../support/agent/agent-session.ts';
import { userExtension, writeTextFile } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';

/** Asks whoever is there, and notes down what came of it. */
const CURIOUS = `
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

function curiousHome() {
  const home = newHome();
  userExtension(home, 'curious.ts', CURIOUS);
  return home;
}

const noted = ({ sessionManager }: AgentSession, customType: string) =>
  sessionManager
    .getEntries()
    .flatMap((entry) => (entry.type === 'custom' && entry.customType === customType ? [entry.data] : []));

/** Lets the extension ask; settles when it has noted down what came of it. */
async function asked(session: AgentSession): Promise<void> {
  const done = nextEventOfType(session, 'entry_appended');
  await session.prompt('/ask');
  await done;
}

it('[V15] extensions are loaded, and hear of the session when the first thing is done in it', async () => {
  const home = curiousHome();
  const { session, extensionsResult } = await createTestSession({ sessionStartEvent: { reason: 'fork' } }, home);
  const path = join(home.agentDir, 'extensions', 'curious.ts');

  expect(extensionsResult).toMatchObject({ extensions: [{ path, resolvedPath: path }], errors: [] });
  expect([...(extensionsResult.extensions[0]?.commands.keys() ?? [])]).toEqual(['ask', 'boom', 'leave']);
  expect(session.getActiveToolNames()).toContain('curious');
  expect(noted(session, 'started')).toEqual([]);

  await session.prompt('say hello');

  expect(noted(session, 'started')).toEqual([{ reason: 'fork', hasUI: false }]);
  expect(session.extensionRunner.getExtensionPaths()).toEqual([path]);
  expect(session.extensionRunner.getCommand('ask')).toMatchObject({ description: 'Asks everything' });
  expect([session.hasExtensionHandlers('session_start'), session.hasExtensionHandlers('tool_call')]).toEqual([
    true,
    false,
  ]);
});

it('[V15] without anybody to show them dialogs take their defaults at once', async () => {
  const { session } = await createTestSession({}, curiousHome());
  await session.bindExtensions({});

  await asked(session);

  expect(noted(session, 'answers')).toEqual([{ confirm: false }]);
  expect(session.extensionRunner.hasUI()).toBe(false);
});

it('[V15] a program that can show dialogs answers them', async () => {
  const { session } = await createTestSession({}, curiousHome());
  const shown: unknown[] = [];
  let thank = () => {};
  const thanked = new Promise<void>((resolve) => {
    thank = resolve;
  });

  await session.bindExtensions({
    mode: 'rpc',
    uiContext: {
      select: async (title, options) => `${title} ${options.join()}`,
      confirm: async (title, message) => `${title} ${message}` === 'Sure? Really?',
      input: async (title, placeholder) => `${title} ${placeholder}`,
      editor: async (title, prefill) => `${title} ${prefill}`,
      notify: (...words) => {
        shown.push(words);
        thank();
      },
      setStatus: (...words) => void shown.push(words),
      setWidget: (...words) => void shown.push(words),
      setTitle: (...words) => void shown.push(words),
      setEditorText: (...words) => void shown.push(words),
    },
  });
  expect(noted(session, 'started')).toEqual([{ reason: 'startup', hasUI: true, name: 'Name? Ann' }]);
  await session.prompt('/ask');
  await thanked;

  expect(noted(session, 'answers')).toEqual([
    { select: 'Which? a,b', confirm: true, input: 'Name? Ann', editor: 'Text prefilled' },
  ]);
  expect(shown).toEqual([
    ['asking', 'now'],
    ['list', ['one', 'two'], { placement: 'belowEditor' }],
    ['Questions'],
    ['draft'],
    ['thanks', 'warning'],
  ]);
});

it('[V15] a dialog that the program fails to show, or shows no more, takes its default', async () => {
  const { session } = await createTestSession({}, curiousHome());
  await session.bindExtensions({
    uiContext: {
      select: async () => {
        throw new Error('no screen');
      },
    },
  });

  await asked(session);
  await session.bindExtensions({});
  await asked(session);

  expect(noted(session, 'answers')).toEqual([{ confirm: false }, { confirm: false }]);
});

it('[V15] what goes wrong in extensions is told, and so is that one wants the end', async () => {
  const { session } = await createTestSession({}, curiousHome());
  const failures: unknown[] = [];
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  await session.bindExtensions({ onError: (failure) => failures.push(failure), shutdownHandler: leave });

  await session.prompt('/boom');
  await session.prompt('/leave');
  await left;

  expect(failures).toEqual([{ extensionPath: 'command:boom', event: 'command', error: 'boom' }]);
  await expect(session.steer('/boom')).rejects.toThrow('cannot be queued');
});

it('[V15] an extension that cannot be loaded is named, and the others are there', async () => {
  const home = curiousHome();
  const broken = userExtension(home, 'broken.ts', 'throw new Error("not today");');
  const { session, extensionsResult } = await createTestSession({}, home);

  expect(extensionsResult.errors).toEqual([{ path: broken, error: expect.stringContaining('not today') }]);
  expect(extensionsResult.extensions).toHaveLength(1);

  writeTextFile(broken, 'export default function (pi) { pi.registerCommand("mended", { handler() {} }); }');
  const events = collectEvents(session);
  await session.reload();

  expect(session.resourceLoader.getExtensions()).toMatchObject({ extensions: [{}, {}], errors: [] });
  expect(session.extensionRunner.getRegisteredCommands().map(({ name }) => name)).toContain('mended');
  expect(events.filter(({ type }) => type === 'extension_error')).toEqual([]);
});

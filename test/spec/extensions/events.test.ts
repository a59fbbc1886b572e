import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { FILLER, fastRetryHome, textWithUsage } from '../../support/agent/compaction.ts';
import {
  allNotifications,
  bash,
  callTool,
  homeWithCommands,
  nextNotification,
  projectExtension,
  userExtension,
} from '../../support/agent/extensions.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { type Home, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

/** A home with one extension made of `body`, in which `pi` and `tell` are defined. */
function homeWithExtension(body: string, home: Home = newHome()): Home {
  userExtension(
    home,
    'listens.ts',
    `export default (pi) => {
      const tell = (ctx, value) => ctx.ui.notify(JSON.stringify(value));
      ${body}
    };`,
  );
  return home;
}

/** The first text of each stored message of this role. */
async function textsOf(peer: Peer, role: string): Promise<string[]> {
  const { messages } = await peer.ok({ type: 'get_messages' });
  return messages
    .filter((message: { role: string }) => message.role === role)
    .map(({ content }: { content: string | { text: string }[] }) =>
      typeof content === 'string' ? content : (content[0]?.text ?? ''),
    );
}

verifies('X45', 'a run fires its events from start to end', async ({ open }) => {
  const events = [
    'agent_start',
    'turn_start',
    'message_start',
    'message_end',
    'tool_execution_start',
    'tool_execution_end',
    'turn_end',
    'agent_before_settle',
    'agent_end',
    'agent_settled',
  ];
  const home = homeWithExtension(`
    const facts = {
      turn_start: ({ turnIndex }) => turnIndex,
      turn_end: ({ turnIndex, message, toolResults }) => [turnIndex, message.role, toolResults.length],
      message_start: ({ message }) => message.role,
      message_end: ({ message }) => message.role,
      tool_execution_start: ({ toolName, args }) => [toolName, args.command],
      tool_execution_end: ({ toolName, isError, result }) => [toolName, isError, result.content[0].text],
      agent_before_settle: ({ outcome }) => outcome,
      agent_end: ({ messages }) => messages.length,
      agent_settled: ({ outcome, aborted }) => [outcome, aborted],
    };
    for (const event of ${JSON.stringify(events)}) pi.on(event, (record, ctx) => tell(ctx, [record.type, facts[event]?.(record) ?? null]));`);
  const { peer } = await open({ home, script: [bash('echo hi'), { text: 'done' }] });

  await peer.run('go');
  await peer.ok({ type: 'get_state' });

  expect(allNotifications(peer)).toEqual([
    ['agent_start', null],
    ['turn_start', 0],
    ['message_start', 'user'],
    ['message_end', 'user'],
    ['message_start', 'assistant'],
    ['message_end', 'assistant'],
    ['tool_execution_start', ['bash', 'echo hi']],
    ['tool_execution_end', ['bash', false, 'hi\n']],
    ['message_start', 'toolResult'],
    ['message_end', 'toolResult'],
    ['turn_end', [0, 'assistant', 1]],
    ['turn_start', 1],
    ['message_start', 'assistant'],
    ['message_end', 'assistant'],
    ['turn_end', [1, 'assistant', 0]],
    ['agent_before_settle', 'completed'],
    ['agent_end', 4],
    ['agent_settled', ['ok', false]],
  ]);
});

verifies('X45', 'message_update carries the whole message so far', async ({ open }) => {
  const home = homeWithExtension(`
    pi.on('message_update', ({ message, assistantMessageEvent: { type, partial, delta } }, ctx) => {
      const text = (content) => content.map((block) => block.text ?? block.thinking).join('|');
      tell(ctx, [type, delta ?? null, text(message.content), text(partial.content) === text(message.content)]);
    });`);
  const { peer } = await open({ home, script: [{ steps: [{ thinking: 'hm' }, { text: 'one two' }] }] });

  await peer.run('go');

  expect(allNotifications(peer)).toEqual([
    ['thinking_start', null, '', true],
    ['thinking_delta', 'hm', 'hm', true],
    ['thinking_end', null, 'hm', true],
    ['text_start', null, 'hm|', true],
    ['text_delta', 'one ', 'hm|one ', true],
    ['text_delta', 'two', 'hm|one two', true],
    ['text_end', null, 'hm|one two', true],
  ]);
});

verifies('X45', 'tool_execution_update carries the partial result', async ({ open }) => {
  const home = homeWithExtension(`
    pi.registerTool({ name: 'slow', description: 'x', parameters: { type: 'object' }, execute: async (_id, _args, _signal, onUpdate) => {
      onUpdate({ content: [{ type: 'text', text: 'half' }] });
      await new Promise((resolve) => setImmediate(resolve));
      return { content: [{ type: 'text', text: 'whole' }] };
    } });
    pi.on('tool_execution_update', ({ toolName, args, partialResult }, ctx) => tell(ctx, [toolName, args, partialResult.content[0].text]));`);
  const { peer } = await open({ home, script: [callTool('slow', { a: 1 }), { text: 'done' }] });

  await peer.run('go');

  expect(allNotifications(peer)).toEqual([['slow', { a: 1 }, 'half']]);
});

verifies('X45', 'a message_end handler replaces messages, but not their role', async ({ open }) => {
  const home = homeWithExtension(`
    pi.on('message_end', ({ message }) => {
      if (message.role === 'user') return { message: { ...message, content: [{ type: 'text', text: 'not said' }] } };
      if (message.role === 'toolResult') return { message: { ...message, content: [{ type: 'text', text: 'nothing' }] } };
      return { message: { ...message, content: message.content.map((block) => (block.type === 'text' ? { ...block, text: block.text.toUpperCase() } : block)) } };
    });
    pi.on('message_end', () => ({ message: { role: 'user', content: [] } }));`);
  const { peer, sessionFiles } = await open({ home, script: [bash('echo secret'), { text: 'done' }] });

  const records = await peer.run('go');

  expect(assistantTexts(records).at(-1)).toBe('DONE');
  expect(await textsOf(peer, 'toolResult')).toEqual(['nothing']);
  expect(await textsOf(peer, 'user')).toEqual(['not said']);
  expect(JSON.stringify(readSessionFile(sessionFiles()[0] ?? ''))).toContain('DONE');
});

verifies('X45', 'entries of a turn_end handler are stored, and `continue` adds a turn', async ({ open }) => {
  const home = homeWithExtension(`
    let left = 2;
    pi.on('turn_end', ({ entries, continue: goesOn }) => {
      if (entries.length > 0 || goesOn || left-- === 0) return;
      return {
        entries: [
          { type: 'custom', customType: 'memo', data: { left } },
          { type: 'custom_message', customType: 'nudge', content: 'go on ' + left, display: false, details: { left } },
        ],
        continue: true,
      };
    });`);
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] });

  const records = await peer.run('go');

  expect(assistantTexts(records)).toEqual(['one', 'two', 'three']);
  expect(await textsOf(peer, 'custom')).toEqual(['go on 1', 'go on 0']);
  const memos = readSessionFile(sessionFiles()[0] ?? '').filter(({ customType }) => customType === 'memo');
  expect(memos.map(({ data }) => data)).toEqual([{ left: 1 }, { left: 0 }]);
});

verifies('X45', 'an agent_before_settle handler can add another turn', async ({ open }) => {
  const home = homeWithExtension(`
    let isFirst = true;
    pi.on('agent_before_settle', ({ outcome }, ctx) => {
      tell(ctx, outcome);
      if (!isFirst) return;
      isFirst = false;
      return { entries: [{ type: 'custom_message', customType: 'check', content: 'are you sure?', display: true }], continue: true };
    });`);
  const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });

  const records = await peer.run('go');

  expect(assistantTexts(records)).toEqual(['one', 'two']);
  expect(allNotifications(peer)).toEqual(['completed', 'completed']);
  expect(records.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
});

verifies('X45', 'agent_before_settle gets the outcome of a failed run, which does not continue', async ({ open }) => {
  const home = homeWithExtension(`
    pi.on('agent_before_settle', ({ outcome }, ctx) => { tell(ctx, outcome); return { continue: true }; });`);
  const { peer } = await open({
    home,
    settings: { retry: { enabled: false } },
    script: [{ error: { status: 400, message: 'no' } }, { text: 'never' }],
  });

  const records = await peer.run('go');

  expect(records.at(-1)).toMatchObject({ outcome: 'error' });
  expect(allNotifications(peer)).toEqual(['error']);
});

verifies('X45', 'a user_bash result replaces the command', async ({ open }) => {
  const home = homeWithExtension(`
    pi.on('user_bash', ({ command, excludeFromContext, cwd }, ctx) => {
      tell(ctx, [command, excludeFromContext, cwd === ctx.cwd]);
      if (command === 'elsewhere') return { result: { output: 'done there', exitCode: 4 } };
    });`);
  const { peer } = await open({ home });

  const result = await peer.ok({ type: 'bash', command: 'elsewhere', excludeFromContext: true });
  const usual = await peer.ok({ type: 'bash', command: 'echo here' });

  expect(result).toMatchObject({ output: 'done there', exitCode: 4, cancelled: false, truncated: false });
  expect(usual).toMatchObject({ output: 'here\n', exitCode: 0 });
  expect(allNotifications(peer)).toEqual([
    ['elsewhere', true, true],
    ['echo here', false, true],
  ]);
});

verifies('X45', 'user_bash operations run the command and get its abort signal', async ({ open }) => {
  const home = homeWithExtension(`
    pi.on('user_bash', (_event, ctx) => ({ operations: {
      exec: async (command, cwd, { onData, signal }) => {
        onData(Buffer.from('remote: ' + command));
        if (command === 'stall') {
          tell(ctx, 'begun');
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        }
        return { exitCode: 0 };
      },
    } }));`);
  const { peer } = await open({ home });

  const result = await peer.ok({ type: 'bash', command: 'ls' });
  const stalled = peer.ok({ type: 'bash', command: 'stall' });
  await nextNotification(peer);
  await peer.ok({ type: 'abort_bash' });

  expect(result).toMatchObject({ output: 'remote: ls', exitCode: 0 });
  expect(await stalled).toMatchObject({ cancelled: true });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toMatchObject([{ role: 'bashExecution', command: 'ls', output: 'remote: ls' }, { cancelled: true }]);
});

verifies('X45', 'an exception in user_bash operations fails the command', async ({ open }) => {
  const home = homeWithExtension(
    "pi.on('user_bash', () => ({ operations: { exec: async () => { throw new Error('no connection'); } } }));",
  );
  const { peer } = await open({ home });

  const rejection = await peer.refused({ type: 'bash', command: 'ls' });

  expect(rejection['error']).toContain('no connection');
  await peer.run('say still here');
});

verifies('X45', 'model_select and thinking_level_select fire when a client changes them', async ({ open }) => {
  const home = homeWithExtension(`
    pi.on('model_select', ({ model, previousModel, source }, ctx) => tell(ctx, [model.id, previousModel.id, source]));
    pi.on('thinking_level_select', ({ level, previousLevel }, ctx) => tell(ctx, [level, previousLevel]));`);
  const { peer } = await open({ home, args: ['--thinking', 'low', '--models', 'tau/scripted,tau/scripted-slow'] });
  await peer.ok({ type: 'get_commands' });

  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted' });
  await peer.ok({ type: 'cycle_model' });
  await peer.ok({ type: 'set_thinking_level', level: 'high' });
  await peer.ok({ type: 'set_thinking_level', level: 'high' });

  expect(allNotifications(peer)).toEqual([
    ['scripted-small', 'scripted', 'set'],
    ['off', 'low'],
    ['scripted', 'scripted-small', 'set'],
    ['medium', 'off'],
    ['scripted-slow', 'scripted', 'cycle'],
    ['high', 'medium'],
  ]);
});

verifies('X45', 'a session_before_tree handler can cancel, label and summarize', async ({ open }) => {
  const home = homeWithExtension(`
    pi.on('session_before_tree', ({ preparation, signal }, ctx) => {
      const { targetId, oldLeafId, entriesToSummarize, userWantsSummary, customInstructions } = preparation;
      tell(ctx, [targetId !== oldLeafId, entriesToSummarize.length > 0, userWantsSummary, customInstructions ?? null, signal.aborted]);
      if (customInstructions === 'no') return { cancel: true };
      return { summary: { summary: 'They went astray.', details: { by: 'extension' } }, label: 'the fork' };
    });
    pi.on('session_tree', ({ newLeafId, oldLeafId, summaryEntry, fromExtension }, ctx) =>
      tell(ctx, [newLeafId !== oldLeafId, summaryEntry?.summary ?? null, fromExtension]));`);
  const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  const { leafId } = await peer.ok({ type: 'get_entries' });
  await peer.run('second');

  const cancelled = await peer.ok({
    type: 'navigate_tree',
    targetId: leafId,
    summarize: true,
    customInstructions: 'no',
  });
  const navigated = await peer.ok({ type: 'navigate_tree', targetId: leafId, summarize: true });

  expect(cancelled).toMatchObject({ cancelled: true });
  expect(navigated).toMatchObject({ cancelled: false });
  expect(allNotifications(peer)).toEqual([
    [true, true, true, 'no', false],
    [true, true, true, null, false],
    [true, 'They went astray.', true],
  ]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.at(-1)).toMatchObject({ role: 'branchSummary', summary: 'They went astray.' });
  expect(JSON.stringify(await peer.ok({ type: 'get_tree' }))).toContain('"label":"the fork"');
});

verifies('X45', 'session_compact_failed carries the reason', async ({ open }) => {
  const home = homeWithExtension(
    `pi.on('session_compact_failed', ({ reason, errorMessage, aborted, willRetry, fromExtension }, ctx) =>
      tell(ctx, { reason, errorMessage: errorMessage ?? null, aborted, willRetry, fromExtension }));`,
    fastRetryHome({ retry: { enabled: false } }),
  );
  const { peer } = await open({
    home,
    script: [
      textWithUsage('one', 100),
      textWithUsage('two', 200),
      { error: { status: 400, message: 'too long' } },
      { stall: true },
    ],
  });
  await peer.run(`first ${FILLER}`);
  await peer.run(`second ${FILLER}`);

  await peer.refused({ type: 'compact' });
  const stopped = peer.request({ type: 'compact' });
  await peer.next((record) => record.type === 'compaction_start');
  await peer.next((record) => record.type === 'compaction_start');
  await peer.ok({ type: 'abort' });
  await stopped;

  expect(allNotifications(peer)).toEqual([
    {
      reason: 'manual',
      errorMessage: expect.stringContaining('too long'),
      aborted: false,
      willRetry: false,
      fromExtension: false,
    },
    { reason: 'manual', errorMessage: null, aborted: true, willRetry: false, fromExtension: false },
  ]);
});

verifies('X45', 'resources_discover adds skills and templates of an extension', async ({ open }) => {
  const home = newHome();
  writeFiles(home, {
    'agent/extensions/brings/index.ts': `export default (pi) => {
      pi.on('resources_discover', ({ cwd, reason }, ctx) => {
        ctx.ui.notify(JSON.stringify([cwd === ctx.cwd, reason]));
        return { skillPaths: ['./skills'], promptPaths: ['prompts', 7, './nowhere'] };
      });
      pi.registerCommand('again', { handler: async (_args, ctx) => { await ctx.reload(); ctx.ui.notify('"reloaded"'); } });
    };`,
    'agent/extensions/brings/skills/fly/SKILL.md': '---\nname: fly\ndescription: Flies.\n---\nFlap.',
    'agent/extensions/brings/prompts/greet.md': 'Greet $1 warmly',
  });
  const { peer } = await open({ home, script: [{ text: 'hello' }] });

  const { commands } = await peer.ok({ type: 'get_commands' });
  await peer.run('/greet Ada');
  await peer.ok({ type: 'prompt', message: '/again' });
  while ((await nextNotification(peer)) !== 'reloaded');

  expect(commands.map(({ name }: { name: string }) => name)).toEqual(['again', 'greet', 'skill:fly']);
  expect(await textsOf(peer, 'user')).toEqual(['Greet Ada warmly']);
  expect(allNotifications(peer)).toEqual([[true, 'startup'], [true, 'reload'], 'reloaded']);
});

for (const [trusted, expected] of [
  ['yes', ['mine']],
  ['no', []],
  ['undecided', []],
] as const) {
  verifies('X45 Z24', `a project_trust handler of the user returns ${trusted}`, async ({ open }) => {
    const home = homeWithExtension(
      `pi.on('project_trust', ({ cwd }) => ({ trusted: cwd.endsWith('project') ? '${trusted}' : 'undecided' }));`,
    );
    projectExtension(
      home,
      'mine.ts',
      "export default (pi) => pi.registerCommand('mine', { handler: async () => {} });",
    );
    const { peer } = await open({ home });

    const { commands } = await peer.ok({ type: 'get_commands' });

    expect(commands.map(({ name }: { name: string }) => name)).toEqual(expected);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ projectTrusted: trusted === 'yes' });
  });
}

verifies('X45', 'a remembered project_trust decision holds without the extension', async ({ open }) => {
  const home = homeWithExtension("pi.on('project_trust', () => ({ trusted: 'yes', remember: true }));");
  projectExtension(home, 'mine.ts', "export default (pi) => pi.registerCommand('mine', { handler: async () => {} });");
  const first = await open({ home });
  await first.peer.ok({ type: 'get_commands' });
  await first.close();
  homeWithExtension('', home);

  const { peer } = await open({ home });

  expect((await peer.ok({ type: 'get_commands' })).commands).toMatchObject([{ name: 'mine' }]);
});

verifies('X45', '--no-approve overrides project_trust handlers', async ({ open }) => {
  const home = homeWithExtension("pi.on('project_trust', () => ({ trusted: 'yes' }));");
  projectExtension(home, 'mine.ts', "export default (pi) => pi.registerCommand('mine', { handler: async () => {} });");
  const { peer } = await open({ home, args: ['--no-approve'] });

  expect((await peer.ok({ type: 'get_commands' })).commands).toEqual([]);
});

verifies(
  'X45',
  'session events carry reason, previous and target session file',
  async ({ open }) => {
    const home = homeWithExtension(`
    const short = (path) => path?.split('/').at(-1) ?? null;
    for (const event of ['session_start', 'session_switch', 'session_fork', 'session_shutdown'])
      pi.on(event, ({ type, reason, previousSessionFile, targetSessionFile }, ctx) =>
        tell(ctx, [type, reason ?? null, short(previousSessionFile), short(targetSessionFile), short(ctx.sessionManager.getSessionFile())]));`);
    const { peer, sessionFiles } = await open({ home, script: [{ text: 'one' }] });
    await peer.run('first');
    const nameOf = async () => (await peer.ok({ type: 'get_state' })).sessionFile.split('/').at(-1);
    const one = await nameOf();
    await peer.ok({ type: 'new_session' });
    const two = await nameOf();
    await peer.ok({ type: 'switch_session', sessionPath: sessionFiles().find((path) => path.endsWith(one)) });
    await peer.ok({ type: 'clone' });
    const three = await nameOf();

    expect(allNotifications(peer)).toEqual([
      ['session_start', 'startup', null, null, one],
      ['session_shutdown', 'new', null, two, one],
      ['session_start', 'new', one, null, two],
      ['session_switch', 'new', one, null, two],
      ['session_shutdown', 'resume', null, one, two],
      ['session_start', 'resume', two, null, one],
      ['session_switch', 'resume', two, null, one],
      ['session_shutdown', 'fork', null, three, one],
      ['session_start', 'fork', one, null, three],
      ['session_fork', null, one, null, three],
    ]);
  },
  AGENT_SWITCHES_SESSION,
);

verifies('X45', 'session_directory sets the folder of later sessions', async ({ open }) => {
  const home = newHome();
  const elsewhere = join(home.root, 'elsewhere');
  mkdirSync(elsewhere);
  homeWithExtension(
    `pi.on('session_directory', ({ cwd }, ctx) => ({ sessionDir: cwd === ctx.cwd ? '${elsewhere}' : undefined }));`,
    home,
  );
  const { peer } = await open({ home, script: [{ text: 'one' }] });
  await peer.run('hello');
  const first = await peer.ok({ type: 'get_state' });

  const fresh = await peer.ok({ type: 'new_session' });
  await peer.ok({ type: 'switch_session', sessionPath: first.sessionFile });
  const copy = await peer.ok({ type: 'clone' });

  expect(first.sessionFile).toContain(home.agentDir);
  for (const { sessionFile } of [fresh, copy]) expect(sessionFile).toMatch(new RegExp(`^${elsewhere}/`));
});

verifies(
  'X45',
  'handlers run in the order of their files, each with the result of the one before',
  async ({ open }) => {
    const { home } = homeWithCommands({});
    for (const name of ['b', 'a', 'c']) {
      userExtension(
        home,
        `${name}.ts`,
        `export default (pi) => {
        pi.on('input', ({ text }) => ({ action: 'transform', text: text + ' ${name}1' }));
        pi.on('input', ({ text }) => ({ action: 'transform', text: text + ' ${name}2' }));
      };`,
      );
    }
    const { peer } = await open({ home, script: [{ text: 'ok' }] });

    await peer.run('go');

    expect(await textsOf(peer, 'user')).toEqual(['go a1 a2 b1 b2 c1 c2']);
  },
);

import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type Home,
  newHome,
  type OpenOptions,
  readSessionFile,
  sessionFiles,
  type TestAgent,
} from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const commandText = (type: string) => `${JSON.stringify({ type })}\n`;

it('[Z1] --mode rpc may be anywhere among the options', async () => {
  const argOrders = [
    ['--mode', 'rpc', '--no-session', '--model', 'tau/scripted-small'],
    ['--no-session', '--mode', 'rpc', '--model', 'tau/scripted-small'],
    ['--no-session', '--model=tau/scripted-small', '--mode=rpc'],
  ];

  const outputs = await Promise.all(
    argOrders.map((args) => runTau(newHome(), args, { input: commandText('get_state') })),
  );

  for (const { code, stdout, stderr } of outputs) {
    const [ready, response] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect([ready.type, response.command, response.data.model.id]).toEqual(['ready', 'get_state', 'scripted-small']);
  }
});

verifies('Z4', '--model selects the model', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted-slow'] });

  const { model } = await peer.ok({ type: 'get_state' });

  expect(model).toMatchObject({ provider: 'tau', id: 'scripted-slow' });
});

verifies('Z3 Z6', '--provider selects the provider, and a suffix of --model the thinking level', async ({ open }) => {
  const named = await open({ args: ['--provider', 'tau', '--model', 'scripted-slow:xhigh'] });
  const withoutKey = await open({ args: ['--provider', 'anthropic', '--model', 'claude-opus-5-5'] });

  const { model, thinkingLevel } = await named.peer.ok({ type: 'get_state' });
  const missing = await withoutKey.peer.ok({ type: 'get_state' });
  const rejection = await withoutKey.peer.refused({ type: 'prompt', message: 'hi' });

  expect({ provider: model.provider, id: model.id, thinkingLevel }).toEqual({
    provider: 'tau',
    id: 'scripted-slow',
    thinkingLevel: 'xhigh',
  });
  expect(missing.model).toBeNull();
  expect(rejection).toMatchObject({
    code: 'model_not_found',
    error: expect.stringContaining('No API key found for anthropic'),
  });
});

verifies(
  'Z4',
  '--model overrides the model stored in the session',
  async ({ open }) => {
    const first = await open({ args: ['--model', 'tau/scripted-slow'] });
    await first.peer.run('say hello');
    await first.close();

    const { peer } = await open({ home: first.home, args: ['--continue', '--model', 'tau/scripted-small'] });

    expect((await peer.ok({ type: 'get_state' })).model.id).toBe('scripted-small');
    expect((await peer.ok({ type: 'get_messages' })).messages).toHaveLength(2);
  },
  LOCAL_TRANSPORTS,
);

verifies('Z7', '--name and -n name the session', async ({ open }) => {
  for (const [flag, name] of [
    ['--name', 'Sprint 12'],
    ['-n', 'ünïcode “name”'],
  ] as const) {
    const agent = await open({ args: [flag, name] });
    await agent.peer.run('say hello');

    expect((await agent.peer.ok({ type: 'get_state' })).sessionName).toBe(name);
    const [path = ''] = agent.sessionFiles();
    expect(readSessionFile(path)).toContainEqual(expect.objectContaining({ type: 'session_info', name }));
  }
});

verifies(
  'Z7',
  '--name renames an existing session',
  async ({ open }) => {
    const first = await open({ args: ['--name', 'old'] });
    await first.peer.run('say hello');
    await first.close();

    const { peer } = await open({ home: first.home, args: ['--continue', '--name', 'new'] });

    expect((await peer.ok({ type: 'get_state' })).sessionName).toBe('new');
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z8',
  '--no-session never writes a session file',
  async ({ open }) => {
    const { peer, home } = await open({ args: ['--no-session'] });
    await peer.run('say hello');
    await peer.ok({ type: 'clone' });
    await peer.run('say more');
    await peer.ok({ type: 'new_session' });
    await peer.run('say no more');

    const state = await peer.ok({ type: 'get_state' });

    expect(state).not.toHaveProperty('sessionFile');
    expect(filesUnder(home.root).filter((path) => path.endsWith('.jsonl'))).toEqual([]);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z9',
  '--session-dir is used for new and existing sessions',
  async ({ open }) => {
    const home = newHome();
    const args = ['--session-dir', 'my sessions'];
    const first = await open({ home, args });
    await first.peer.run('say hello');
    const { sessionFile, sessionId } = await first.peer.ok({ type: 'get_state' });
    await first.close();

    const again = await open({ home, args: [...args, '--continue'] });
    const found = await again.peer.ok({ type: 'get_state' });
    await again.close();
    const byId = await open({ home, args: [...args, '--session', sessionId.slice(0, 8)] });

    expect(dirname(sessionFile)).toBe(join(home.cwd, 'my sessions'));
    expect(found).toMatchObject({ sessionFile, sessionId, messageCount: 2 });
    expect(await byId.peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile, sessionId });
    expect(sessionFiles(home)).toEqual([]);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z9',
  '--continue with --session-dir ignores sessions of the default folder',
  async ({ open }) => {
    const { home } = await usedSession(open);

    const { peer } = await open({ home, args: ['--session-dir', '../elsewhere', '--continue'] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0 });
  },
  LOCAL_TRANSPORTS,
);

verifies('Z10', '--session <path> opens that file, by absolute and by relative path', async ({ open }) => {
  const { home, path } = await usedSession(open);
  const moved = join(home.cwd, 'kept.jsonl');
  renameSync(path, moved);

  for (const name of [moved, './kept.jsonl', 'kept.jsonl']) {
    const agent = await open({ home, args: ['--session', name] });
    const { messages } = await agent.peer.ok({ type: 'get_messages' });

    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
    expect((await agent.peer.ok({ type: 'get_state' })).sessionFile).toBe(moved);
    await agent.close();
  }
});

verifies(
  'Z11',
  '--session <path> creates the file when its folder exists',
  async ({ open }) => {
    const home = newHome();
    const path = join(home.cwd, 'new.jsonl');

    const agent = await open({ home, args: ['--session', path] });
    await agent.peer.run('say hello');

    const { sessionFile, sessionId } = await agent.peer.ok({ type: 'get_state' });
    expect(sessionFile).toBe(path);
    expect(readSessionFile(path)[0]).toMatchObject({ type: 'session', version: 3, id: sessionId, cwd: home.cwd });
    expect(sessionFiles(home)).toEqual([]);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z13',
  '--session <id> opens the session with that id prefix',
  async ({ open }) => {
    const { home, id } = await usedSession(open);
    await usedSession(open, { home });

    for (const prefix of [id, id.slice(0, -1)]) {
      const agent = await open({ home, args: ['--session', prefix] });

      expect((await agent.peer.ok({ type: 'get_state' })).sessionId).toBe(id);
      await agent.close();
    }
  },
  LOCAL_TRANSPORTS,
);

verifies('Z13', 'a session of another folder is found by its id and keeps its folder', async ({ open }) => {
  const { home, id } = await usedSession(open);
  const elsewhere: Home = { ...home, cwd: join(home.root, 'elsewhere') };
  mkdirSync(elsewhere.cwd);

  const { peer } = await open({ home: elsewhere, args: ['--session', id] });
  const records = await peer.run('run `pwd`');

  expect((await peer.ok({ type: 'get_state' })).sessionId).toBe(id);
  expect(JSON.stringify(records)).toContain(home.cwd);
});

verifies(
  'Z14',
  '--session-id creates the session with that id, and opens it the next time',
  async ({ open }) => {
    const args = ['--session-id', 'build-42'];
    const first = await open({ args });
    await first.peer.run('say hello');
    const { sessionId, sessionFile } = await first.peer.ok({ type: 'get_state' });
    await first.close();

    const { peer, home } = await open({ home: first.home, args });

    expect(sessionId).toBe('build-42');
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId, sessionFile, messageCount: 2 });
    expect(sessionFiles(home)).toEqual([sessionFile]);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z14',
  '--session-id does not match id prefixes',
  async ({ open }) => {
    const { home } = await usedSession(open, { args: ['--session-id', 'build-42'] });

    const { peer } = await open({ home, args: ['--session-id', 'build-4'] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: 'build-4', messageCount: 0 });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z15',
  '--continue opens the most recently used session of this folder',
  async ({ open }) => {
    const { home, path: older, id } = await usedSession(open);
    const { path: newer } = await usedSession(open, { home });
    const elsewhere: Home = { ...home, cwd: join(home.root, 'elsewhere') };
    mkdirSync(elsewhere.cwd);
    await usedSession(open, { home: elsewhere });
    utimesSync(newer, new Date(2001, 1), new Date(2001, 1));
    utimesSync(older, new Date(2002, 1), new Date(2002, 1));

    const { peer } = await open({ home, args: ['--continue'] });

    expect((await peer.ok({ type: 'get_state' })).sessionId).toBe(id);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z15',
  '--continue creates a session when there is none',
  async ({ open }) => {
    const { peer } = await open({ args: ['-c'] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0, sessionFile: expect.any(String) });
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z16',
  '--stream sets the form of message_update',
  async ({ open }) => {
    const updatesWith = async (args: string[]) => {
      const { peer } = await open({ args, script: [{ text: 'Hello' }] });
      const updates = (await peer.run('hi')).filter(({ type }) => type === 'message_update');
      expect(updates.length).toBeGreaterThan(0);
      return updates;
    };

    for (const update of await updatesWith(['--stream', 'delta'])) expect(update).not.toHaveProperty('message');
    for (const update of await updatesWith(['--stream', 'cumulative'])) expect(update).toHaveProperty('message');
    for (const update of await updatesWith([])) expect(update).toHaveProperty('message');
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'Z17',
  'PI_CODING_AGENT_DIR moves settings and sessions',
  async ({ open }) => {
    const home = newHome();
    const moved = join(home.root, 'config');
    mkdirSync(moved);
    writeFileSync(join(moved, 'settings.json'), JSON.stringify({ defaultThinkingLevel: 'high' }));

    const { peer } = await open({ home, env: { PI_CODING_AGENT_DIR: moved } });
    await peer.run('say hello');

    const { sessionFile, thinkingLevel } = await peer.ok({ type: 'get_state' });
    expect(thinkingLevel).toBe('high');
    expect(dirname(dirname(sessionFile))).toBe(join(moved, 'sessions'));
    expect(existsSync(home.agentDir)).toBe(false);
  },
  LOCAL_TRANSPORTS,
);

verifies('Z17', 'without PI_CODING_AGENT_DIR settings and sessions are in ~/.pi/agent', async ({ open }) => {
  const { peer, home } = await open({ env: { PI_CODING_AGENT_DIR: '' } });
  await peer.run('say hello');

  const { sessionFile } = await peer.ok({ type: 'get_state' });

  expect(dirname(dirname(sessionFile))).toBe(join(home.root, '.pi/agent/sessions'));
});

verifies('Z18', 'no model call is made for a title', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] });

  for (const expected of ['one', 'two', 'three']) {
    await peer.run('What is next?');
    expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: expected });
  }

  expect(await peer.ok({ type: 'get_state' })).not.toHaveProperty('sessionName');
});

verifies(
  'Z27',
  'the theme flags of pi have no effect',
  async ({ open }) => {
    const args = ['--theme', 'dark.json', '--use-theme', 'light', '--no-themes', '--tui-mode', 'full', '--verbose'];
    const plain = await open({ args: ['--no-session'] });
    const themed = await open({ home: plain.home, args: ['--no-session', ...args] });

    const [before, after] = [await plain.peer.ok({ type: 'get_state' }), await themed.peer.ok({ type: 'get_state' })];

    expect({ ...after, sessionId: '' }).toEqual({ ...before, sessionId: '' });
    expect(themed.process?.stderr() ?? '').toBe('');
  },
  LOCAL_TRANSPORTS,
);

type Open = (options?: OpenOptions) => Promise<TestAgent>;

/** Creates a session with one run. */
async function usedSession(open: Open, options: OpenOptions = {}): Promise<{ home: Home; path: string; id: string }> {
  const agent = await open(options);
  await agent.peer.run('say hello');
  const { sessionFile, sessionId } = await agent.peer.ok({ type: 'get_state' });
  await agent.close();
  return { home: agent.home, path: sessionFile, id: sessionId };
}

const filesUnder = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' });

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { sessionDirFor } from '../../../src/store/agent-dir.ts';
import { NO_RETRY, newHome, openTestAgent as openOn, readSessionFile } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { entry, header, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const id = expect.stringMatching(/^[0-9a-f]{8}$/);

verifies('J1 J2', 'a session file is a header and a tree of entries', async ({ open }) => {
  const { peer, home } = await open({ args: ['--model', 'tau/scripted'], script: [{ text: 'one' }] });
  await peer.run({ message: 'first', clientMessageId: 'c1' });

  const { sessionFile, sessionId } = await peer.ok({ type: 'get_state' });

  const [top, ...entries] = readSessionFile(sessionFile);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(top).toEqual({ type: 'session', version: 3, id: sessionId, timestamp: iso, cwd: home.cwd });
  expect(entries).toEqual([
    { type: 'model_change', id, parentId: null, timestamp: iso, provider: 'tau', modelId: 'scripted' },
    { type: 'thinking_level_change', id, parentId: entries[0].id, timestamp: iso, thinkingLevel: 'medium' },
    { type: 'message', id, parentId: entries[1].id, timestamp: iso, clientMessageId: 'c1', message: messages[0] },
    { type: 'message', id, parentId: entries[2].id, timestamp: iso, message: messages[1] },
  ]);
});

verifies('J3', 'the session file is named by time and id in the folder of the working directory', async ({ open }) => {
  const { peer, home } = await open();

  const { sessionFile, sessionId } = await peer.ok({ type: 'get_state' });

  const [{ timestamp }] = readSessionFile(sessionFile);
  const folder = `--${home.cwd.slice(1).replaceAll('/', '-')}--`;
  expect(dirname(sessionFile)).toBe(join(home.agentDir, 'sessions', folder));
  expect(basename(sessionFile)).toBe(`${timestamp.replace(/[:.]/g, '-')}_${sessionId}.jsonl`);
  expect(statSync(sessionFile).mode & 0o777).toBe(0o600);
});

verifies('J3', 'copies and successors of a session of another folder are stored in that folder', async ({ open }) => {
  const home = newHome();
  const cwd = join(home.root, 'other');
  mkdirSync(cwd);
  const sessionPath = storeSession(home, shortConversation(cwd), { cwd });
  const { peer } = await open({ home });
  await peer.ok({ type: 'switch_session', sessionPath });

  const copies = [
    await peer.ok({ type: 'clone', detached: true }),
    await peer.ok({ type: 'fork', entryId: 'aaaaaaaa', detached: true }),
    await peer.ok({ type: 'new_session' }),
  ];

  for (const { sessionFile } of copies) {
    expect(readSessionFile(sessionFile)[0]).toMatchObject({ cwd });
    expect(dirname(sessionFile)).toBe(sessionDirFor(home.agentDir, cwd));
  }
});

verifies(
  'Z9 J3',
  '--session-dir stores every session in that folder',
  async ({ open }) => {
    const home = newHome();
    const directory = join(home.root, 'kept', 'here');
    const cwd = join(home.root, 'other');
    mkdirSync(cwd);
    const sessionPath = storeSession(home, shortConversation(cwd), { cwd });
    const { peer, sessionFiles } = await open({
      home,
      args: ['--session-dir', '../kept/here'],
      script: [{ text: 'one' }],
    });

    const first = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'switch_session', sessionPath });
    const second = await peer.ok({ type: 'clone' });

    expect([dirname(first.sessionFile), dirname(second.sessionFile)]).toEqual([directory, directory]);
    expect(sessionFiles()).toEqual([sessionPath]);
  },
  LOCAL_TRANSPORTS,
);

verifies('J4', 'the header is on disk when the agent is ready', async ({ open }) => {
  const { peer, sessionFiles } = await open();

  await peer.greeted();

  const [file] = sessionFiles();
  expect(readSessionFile(file ?? '')[0]).toMatchObject({ type: 'session', version: 3 });
});

verifies('J4', 'the header of a new session is on disk when new_session responds', async ({ open }) => {
  const { peer } = await open();

  const { sessionId, sessionFile } = await peer.ok({ type: 'new_session' });

  expect(readSessionFile(sessionFile)[0]).toMatchObject({ type: 'session', id: sessionId });
});

verifies('J5', 'a session without messages is removed on a clean exit', async ({ open }) => {
  const agent = await open({ args: ['--name', 'nothing'] });
  await agent.peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  const { sessionFile } = await agent.peer.ok({ type: 'get_state' });
  expect(existsSync(sessionFile)).toBe(true);

  await agent.close();

  expect(agent.sessionFiles()).toEqual([]);
});

verifies('J5', 'empty sessions are removed when they are left, others stay', async ({ open }) => {
  const agent = await open({ script: [{ text: 'one' }] });
  await agent.peer.ok({ type: 'new_session' });
  const { sessionFile } = await agent.peer.ok({ type: 'new_session' });
  await agent.peer.run('first');
  await agent.peer.ok({ type: 'new_session' });

  await agent.close();

  expect(agent.sessionFiles()).toEqual([sessionFile]);
});

verifies('J5', 'a session whose only assistant message failed is kept', async ({ open }) => {
  const agent = await open({ settings: NO_RETRY, script: [{ error: { status: 500 } }] });
  await agent.peer.run('first');
  const { sessionFile } = await agent.peer.ok({ type: 'get_state' });

  await agent.close();

  expect(agent.sessionFiles()).toEqual([sessionFile]);
});

verifies(
  'J5 J6 J18',
  '--continue skips an empty session left by a crash',
  async () => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const crashed = await openOn('stdio', { home });
    const { sessionFile } = await crashed.peer.ok({ type: 'get_state' });
    crashed.process?.kill('SIGKILL');
    await crashed.process?.exited;

    const { peer } = await openOn('stdio', { home, args: ['--continue'] });

    expect(existsSync(sessionFile)).toBe(true);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile: path, messageCount: 2 });
  },
  ['stdio'],
);

verifies(
  'J6',
  '--continue starts a new session when all others are empty',
  async ({ open }) => {
    const home = newHome();
    const empty = storeSession(home, [header(home.cwd, { id: 'empty' })]);

    const { peer } = await open({ home, args: ['--continue'] });

    const { sessionFile, sessionId } = await peer.ok({ type: 'get_state' });
    expect(sessionFile).not.toBe(empty);
    expect(sessionId).not.toBe('empty');
    expect(existsSync(empty)).toBe(true);
  },
  LOCAL_TRANSPORTS,
);

it.each([
  [
    'a message of an extension',
    entry('custom_message', 'e1', null, { customType: 'note', content: 'hi', display: true }),
  ],
  ['a summary', entry('compaction', 'e1', null, { summary: 's', firstKeptEntryId: 'e0', tokensBefore: 1 })],
  ['a name', entry('session_info', 'e1', null, { name: 'mine' })],
])('[J5] an existing file that holds only %s is left unchanged', async (_what, only) => {
  const home = newHome();
  const path = join(home.root, 'kept.jsonl');
  const text = [header(home.cwd), only].map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(path, text);

  const { code } = await runTau(home, ['--mode', 'rpc', '--session', path], { input: '{"type":"get_state"}\n' });

  expect(code).toBe(0);
  expect(readFileSync(path, 'utf8').startsWith(text)).toBe(true);
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import { newGate, newHome, openTestAgent as openOn, readSessionFile } from '../../support/agent/test-agent.ts';
import { header, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

verifies('S6 S7 S12', 'switch_session loads the file', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, shortConversation(home.cwd));
  const { peer } = await open({ home, script: [{ text: 'new' }, { text: 'two' }] });
  await peer.run('elsewhere');

  const moved = await peer.ok({ type: 'switch_session', sessionPath });

  expect(moved).toEqual({ cancelled: false, sessionId: 'stored-1', sessionFile: sessionPath });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({
    sessionId: 'stored-1',
    sessionFile: sessionPath,
    messageCount: 2,
  });
  const [question, answer] = readSessionFile(sessionPath).slice(1);
  expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages: [question.message, answer.message] });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'one' });
  expect(await peer.ok({ type: 'get_fork_messages' })).toEqual({ messages: [{ entryId: 'aaaaaaaa', text: 'first' }] });
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ sessionId: 'stored-1', totalMessages: 2 });
});

verifies('S6', 'the conversation continues where the file ended', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, shortConversation(home.cwd));
  const { peer } = await open({ home, script: [{ text: 'two' }] });
  await peer.ok({ type: 'switch_session', sessionPath });

  await peer.run('second');

  const added = readSessionFile(sessionPath).slice(3);
  expect(added.map(({ type, message }) => message?.role ?? type)).toEqual(['user', 'assistant']);
  expect(added[0].parentId).toBe('bbbbbbbb');
  expect(added[1].parentId).toBe(added[0].id);
});

verifies('S6', 'a relative path is resolved against the working directory of the session', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const { peer } = await open({ home });

  await peer.ok({ type: 'switch_session', sessionPath: relative(home.cwd, path) });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: 'stored-1', sessionFile: path });
});

verifies('S6 S7', 'switching to the open session under any path keeps it', async ({ open }) => {
  const { peer, home } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  const before = await peer.ok({ type: 'get_state' });
  const link = join(home.root, 'link.jsonl');
  symlinkSync(before.sessionFile, link);
  const { sessionId, sessionFile } = before;

  const moves = [
    await peer.ok({ type: 'switch_session', sessionPath: sessionFile }),
    await peer.ok({ type: 'switch_session', sessionPath: link }),
    await peer.ok({ type: 'switch_session', sessionPath: sessionFile, detached: true }),
  ];

  expect(moves).toEqual(moves.map(() => ({ cancelled: false, sessionId, sessionFile })));
  expect(await peer.ok({ type: 'get_state' })).toEqual(before);
  await peer.run('second');
  expect(readSessionFile(sessionFile).filter(({ type }) => type === 'message')).toHaveLength(4);
});

verifies('S6 S12', 'a session of another folder runs tools in that folder', async ({ open }) => {
  const home = newHome();
  const cwd = join(home.root, 'other');
  mkdirSync(cwd);
  const sessionPath = storeSession(home, shortConversation(cwd), { cwd });
  const script = [{ steps: [{ toolCall: { name: 'bash', arguments: { command: 'pwd' } } }] }, { text: 'done' }];
  const { peer } = await open({ home, script });

  await peer.ok({ type: 'switch_session', sessionPath });
  const records = await peer.run('where are you?');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ cwd });
  const end = records.find(({ type }) => type === 'tool_execution_end');
  expect(end).toMatchObject({ result: { content: [{ type: 'text', text: `${cwd}\n` }] } });
});

verifies(
  'S9 S11',
  'a missing session file is an error and is not created',
  async ({ open }) => {
    const { peer, home, sessionFiles } = await open({ script: [{ text: 'one' }] });
    await peer.run('first');
    const before = await peer.ok({ type: 'get_state' });
    const files = sessionFiles();

    for (const sessionPath of [join(home.root, 'none.jsonl'), join(dirname(before.sessionFile), 'no', 'none.jsonl')]) {
      expect(await peer.refused({ type: 'switch_session', sessionPath })).toMatchObject({
        command: 'switch_session',
        code: 'session_not_found',
        error: `Session not found: ${sessionPath}`,
      });
    }

    expect(await peer.ok({ type: 'get_state' })).toEqual(before);
    expect(sessionFiles()).toEqual(files);
  },
  // A server looks for the file itself.
  ['memory', 'websocket'],
);

const nonSessions: Readonly<Record<string, string | Buffer>> = {
  'notes.txt': 'Dear diary\n',
  'empty.jsonl': '',
  'bytes.bin': Buffer.from([0, 255, 10, 13, 0, 128]),
  'package.json': '{"name":"shop","id":"x"}\n',
  'list.jsonl': '[{"type":"session","id":"x"}]\n',
  'headless.jsonl': '{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"t","message":{}}\n',
  'nameless.jsonl': '{"type":"session","version":3,"cwd":"/"}\n',
  'half.jsonl': '{"type":"session","version":3,"id":"ha',
};

verifies('S10 S11', 'switch_session rejects a file that is not a session and leaves it unchanged', async ({ open }) => {
  const { peer, home } = await open();
  const before = await peer.ok({ type: 'get_state' });

  for (const [name, content] of Object.entries(nonSessions)) {
    const sessionPath = join(home.root, name);
    writeFileSync(sessionPath, content);

    const refusal = await peer.refused({ type: 'switch_session', sessionPath });

    expect(refusal).toMatchObject({ code: 'not_a_session', error: `Not a session file: ${sessionPath}` });
    expect(readFileSync(sessionPath)).toEqual(Buffer.from(content));
  }
  expect(await peer.ok({ type: 'get_state' })).toEqual(before);
});

verifies('S10 S11', 'a folder or a pipe is rejected as not a session', async ({ open }) => {
  const { peer, home } = await open();
  const pipe = join(home.root, 'pipe');
  execFileSync('mkfifo', [pipe]);

  for (const sessionPath of [home.cwd, pipe]) {
    expect(await peer.refused({ type: 'switch_session', sessionPath })).toMatchObject({
      code: 'not_a_session',
      error: `Not a session file: ${sessionPath}`,
    });
  }
});

verifies('S11 J16', 'a session that another process has open is rejected with its holder', async ({ open }) => {
  const home = newHome();
  const other = await openOn('stdio', { home, script: [{ text: 'one' }] });
  await other.peer.run('first');
  const { sessionFile } = await other.peer.ok({ type: 'get_state' });
  const before = readFileSync(sessionFile);
  const { peer } = await open({ home });
  const state = await peer.ok({ type: 'get_state' });

  const refusal = await peer.refused({ type: 'switch_session', sessionPath: sessionFile });
  const probe = await peer.refused({ type: 'switch_session', sessionPath: sessionFile, detached: true });

  expect(refusal).toMatchObject({ code: 'session_in_use', holder: { pid: other.process?.pid } });
  expect(refusal['error']).toContain(sessionFile);
  expect(probe).toMatchObject({ code: 'session_in_use', holder: { pid: other.process?.pid } });
  expect(await peer.ok({ type: 'get_state' })).toEqual(state);
  expect(readFileSync(sessionFile)).toEqual(before);
  await other.close();
  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });
});

verifies('S11', 'a rejected switch leaves the run running', async ({ open }) => {
  const gate = newGate();
  const { peer, home } = await open({
    script: [{ steps: [{ text: 'begun ' }, { await: gate.path }, { text: 'done' }] }],
  });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.next('message_update');

  await peer.refused({ type: 'switch_session', sessionPath: join(home.root, 'none.jsonl') });
  await peer.refused({ type: 'fork', entryId: 'nobody' });
  gate.open();

  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'begun done' });
});

verifies('J16', 'a session that was left can be opened by another process', async ({ open }) => {
  const { peer, home } = await open({ script: [{ text: 'one' }] });
  await peer.run('first');
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'new_session' });

  const other = await openOn('stdio', { home, args: ['--session', sessionFile] });

  expect(await other.peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile, messageCount: 2 });
});

verifies('S6', 'a session opened through a symbolic link keeps the path of the link', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const link = join(home.root, 'link.jsonl');
  symlinkSync(path, link);
  const { peer } = await open({ home, script: [{ text: 'two' }] });

  await peer.ok({ type: 'switch_session', sessionPath: link });
  await peer.run('second');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile: link });
  expect(realpathSync(link)).toBe(path);
  expect(readSessionFile(path).filter(({ type }) => type === 'message')).toHaveLength(4);
});

verifies('S6 J5', 'a session without messages is removed when it is left', async ({ open }) => {
  const home = newHome();
  const full = storeSession(home, shortConversation(home.cwd));
  const empty = storeSession(home, [header(home.cwd, { id: 'empty' })], { name: 'empty.jsonl' });
  const { peer, sessionFiles } = await open({ home });

  await peer.ok({ type: 'switch_session', sessionPath: empty });
  await peer.ok({ type: 'switch_session', sessionPath: full });

  expect(sessionFiles()).toEqual([full]);
});

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newGate, newHome, openTestAgent as openOn, readSessionFile } from '../../support/agent/test-agent.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

verifies(
  'S29 S30',
  'each detached session change returns a session that can be opened, and the agent stays',
  async ({ open }) => {
    const home = newHome();
    const sessionPath = storeSession(home, shortConversation(home.cwd));
    const { peer } = await open({ home, script: [{ text: 'one' }] });
    await peer.run('first');
    const before = await peer.ok({ type: 'get_state' });
    const [{ entryId }] = (await peer.ok({ type: 'get_fork_messages' })).messages;
    const recordCount = peer.records.length;

    const targets = [
      await peer.ok({ type: 'new_session', detached: true }),
      await peer.ok({ type: 'switch_session', sessionPath, detached: true }),
      await peer.ok({ type: 'fork', entryId, detached: true }),
      await peer.ok({ type: 'branch', entryId, detached: true }),
      await peer.ok({ type: 'clone', detached: true }),
    ];

    expect(await peer.ok({ type: 'get_state' })).toEqual(before);
    expect(peer.records.slice(recordCount).filter(({ type }) => type !== 'response')).toEqual([]);
    expect(targets.map(({ cancelled, text }) => [cancelled, text])).toEqual([
      [false, undefined],
      [false, undefined],
      [false, 'first'],
      [false, 'first'],
      [false, undefined],
    ]);
    expect(new Set(targets.map(({ sessionId }) => sessionId)).size).toBe(5);
    for (const { sessionId, sessionFile } of targets) {
      expect(readSessionFile(sessionFile)[0]).toMatchObject({ type: 'session', id: sessionId });
      await peer.ok({ type: 'switch_session', sessionPath: sessionFile });
      expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId, sessionFile });
    }
  },
);

verifies('S29 S30', 'another process can open the target of a detached session change at once', async ({ open }) => {
  const { peer, home } = await open({ script: [{ text: 'one' }] });
  await peer.run('first');

  const { sessionId, sessionFile } = await peer.ok({ type: 'clone', detached: true });
  const other = await openOn('stdio', { home, args: ['--session', sessionFile] });

  expect(await other.peer.ok({ type: 'get_state' })).toMatchObject({ sessionId, messageCount: 2 });
});

verifies('S29', 'a detached session change leaves the run unchanged', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ text: 'one' }, { steps: [{ text: 'begun ' }, { await: gate.path }, { text: 'done' }] }],
  });
  await peer.run('first');
  const [{ entryId }] = (await peer.ok({ type: 'get_fork_messages' })).messages;
  await peer.ok({ type: 'prompt', message: 'second' });
  await peer.next('message_update');
  const { sessionFile } = await peer.ok({ type: 'get_state' });

  await peer.ok({ type: 'new_session', detached: true });
  await peer.ok({ type: 'switch_session', sessionPath: sessionFile, detached: true });
  await peer.ok({ type: 'fork', entryId, detached: true });
  await peer.ok({ type: 'clone', detached: true });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile, isStreaming: true });
  gate.open();

  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok', aborted: false });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'begun done' });
});

verifies('S29 S30', 'a detached switch checks its target and changes no file', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, shortConversation(home.cwd));
  const bytes = readFileSync(sessionPath);
  const { peer } = await open({ home });
  const missing = join(home.root, 'none.jsonl');

  const target = await peer.ok({ type: 'switch_session', sessionPath, detached: true });
  const refusal = await peer.refused({ type: 'switch_session', sessionPath: missing, detached: true });

  expect(target).toEqual({ cancelled: false, sessionId: 'stored-1', sessionFile: sessionPath });
  expect(readFileSync(sessionPath)).toEqual(bytes);
  expect(refusal).toMatchObject({ code: 'session_not_found' });
  expect(existsSync(missing)).toBe(false);
});

verifies('S29 S30', 'a detached switch repairs nothing; the next opening does', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, shortConversation(home.cwd));
  appendFileSync(sessionPath, '{"type":"message","id":"half');
  const bytes = readFileSync(sessionPath);
  const { peer } = await open({ home });

  await peer.ok({ type: 'switch_session', sessionPath, detached: true });

  expect(readFileSync(sessionPath)).toEqual(bytes);
  const other = await openOn('stdio', { home, args: ['--session', sessionPath] });
  expect(await other.peer.find('session_repaired')).toMatchObject({ tornBytes: 28 });
});

verifies('S30', 'a session created detached keeps the chosen model and thinking level', async ({ open }) => {
  const { peer, home } = await open({ script: [{ text: 'one' }] });
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-slow' });
  await peer.ok({ type: 'set_thinking_level', level: 'max' });

  const { sessionFile } = await peer.ok({ type: 'new_session', detached: true });

  const other = await openOn('stdio', { home, args: ['--session', sessionFile] });
  expect(await other.peer.ok({ type: 'get_state' })).toMatchObject({
    model: { id: 'scripted-slow' },
    thinkingLevel: 'max',
    messageCount: 0,
  });
});

verifies('S30 S4', 'a detached new session stores its parent', async ({ open }) => {
  const { peer } = await open();

  const { sessionFile } = await peer.ok({ type: 'new_session', parentSession: '/a/b.jsonl', detached: true });

  expect(readSessionFile(sessionFile)[0]).toMatchObject({ parentSession: '/a/b.jsonl' });
});

verifies('S29', 'detached:false is an ordinary session change', async ({ open }) => {
  const { peer } = await open();
  const { sessionId } = await peer.ok({ type: 'get_state' });

  const moved = await peer.ok({ type: 'new_session', detached: false });

  expect(moved.sessionId).not.toBe(sessionId);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: moved.sessionId });
});

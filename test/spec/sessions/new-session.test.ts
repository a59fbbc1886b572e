import { expect } from 'vitest';
import { readSessionFile } from '../../support/agent/test-agent.ts';
import { AGENT_SWITCHES_SESSION, LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

verifies('S1 S2 S12', 'new_session starts an empty conversation', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  const before = await peer.ok({ type: 'get_state' });

  const moved = await peer.ok({ type: 'new_session' });

  const after = await peer.ok({ type: 'get_state' });
  expect(moved).toEqual({ cancelled: false, sessionId: after.sessionId, sessionFile: after.sessionFile });
  expect(after.sessionId).not.toBe(before.sessionId);
  expect(after.sessionFile).not.toBe(before.sessionFile);
  expect(sessionFiles()).toEqual([before.sessionFile, after.sessionFile].sort());
  expect(after).toEqual({ ...before, sessionId: after.sessionId, sessionFile: after.sessionFile, messageCount: 0 });
  expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages: [] });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: null });
  expect(await peer.ok({ type: 'get_fork_messages' })).toEqual({ messages: [] });
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({
    sessionId: after.sessionId,
    sessionFile: after.sessionFile,
    totalMessages: 0,
  });
});

verifies('S1 S12', 'messages after new_session are stored in the new file only', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'two', when: 'second' }, { text: 'one' }] });
  await peer.run('first');
  const { sessionFile: old } = await peer.ok({ type: 'get_state' });
  const before = readSessionFile(old);
  const { sessionFile } = await peer.ok({ type: 'new_session' });

  await peer.run('second');

  expect(readSessionFile(old)).toEqual(before);
  const texts = readSessionFile(sessionFile).flatMap(({ message }) => (message ? [message.content[0].text] : []));
  expect(texts).toEqual(['second', 'two']);
});

verifies(
  'S1',
  'a queue stays with its session',
  async ({ open }) => {
    const { peer } = await open({ script: [{ steps: [{ stall: true }] }] });
    await peer.ok({ type: 'prompt', message: 'wait' });
    await peer.ok({ type: 'follow_up', message: 'later' });
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    await peer.ok({ type: 'new_session' });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 0, messageCount: 0 });
    expect(peer.records.filter(({ type }) => type === 'queue_update').at(-1)).toEqual({
      type: 'queue_update',
      steering: [],
      followUp: [],
      items: [],
    });
    await peer.ok({ type: 'switch_session', sessionPath: sessionFile });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 1, isIdle: true });
  },
  AGENT_SWITCHES_SESSION,
);

verifies('S4 S5', 'parentSession is stored and no messages are copied', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  const { sessionFile: parentSession } = await peer.ok({ type: 'get_state' });

  const { sessionFile } = await peer.ok({ type: 'new_session', parentSession });

  expect(readSessionFile(sessionFile)[0]).toMatchObject({ type: 'session', parentSession });
  expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages: [] });
  expect(readSessionFile(sessionFile).filter(({ type }) => type === 'message')).toEqual([]);
});

verifies('S4', 'a session without parentSession stores none, and the parent need not exist', async ({ open }) => {
  const { peer } = await open();

  const plain = await peer.ok({ type: 'new_session' });
  const [header] = readSessionFile(plain.sessionFile);
  const child = await peer.ok({ type: 'new_session', parentSession: '/nowhere/parent.jsonl' });

  expect(header).not.toHaveProperty('parentSession');
  expect(readSessionFile(child.sessionFile)[0]).toMatchObject({ parentSession: '/nowhere/parent.jsonl' });
});

verifies(
  'S1 S12 Z8',
  'without session files new_session writes no file',
  async ({ open }) => {
    const { peer, sessionFiles } = await open({ args: ['--no-session'], script: [{ text: 'one' }] });
    await peer.run('first');
    const { sessionId } = await peer.ok({ type: 'get_state' });

    const moved = await peer.ok({ type: 'new_session' });

    expect(moved).toEqual({ cancelled: false, sessionId: expect.any(String) });
    expect(moved.sessionId).not.toBe(sessionId);
    expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages: [] });
    expect(sessionFiles()).toEqual([]);
  },
  LOCAL_TRANSPORTS,
);

verifies('S11', 'a rejected command leaves the session unchanged', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });
  await peer.run('first');
  const before = await peer.ok({ type: 'get_state' });

  const refusals = [
    await peer.refused({ type: 'new_session', parentSession: 7 }),
    await peer.refused({ type: 'switch_session', sessionPath: '/nowhere/a.jsonl' }),
    await peer.refused({ type: 'switch_session' }),
    await peer.refused({ type: 'switch_session', sessionPath: '' }),
    await peer.refused({ type: 'fork', entryId: 'nobody' }),
    await peer.refused({ type: 'fork', entryId: null }),
    await peer.refused({ type: 'clone', detached: 'yes' }),
  ];

  expect(refusals.map(({ code }) => code)).toEqual([
    'invalid_params',
    'session_not_found',
    'invalid_params',
    'invalid_params',
    'not_found',
    'invalid_params',
    'invalid_params',
  ]);
  expect(await peer.ok({ type: 'get_state' })).toEqual(before);
});

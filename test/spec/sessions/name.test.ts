import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

verifies('S24 G8 I16', 'a session name is published and stored', async ({ open }) => {
  const { peer } = await open();
  const before = await peer.ok({ type: 'get_state' });

  const response = await peer.request({ type: 'set_session_name', name: 'my-feature-work' });

  expect(before).not.toHaveProperty('sessionName');
  expect(response).toMatchObject({ success: true });
  expect(response).not.toHaveProperty('data');
  expect(await peer.ok({ type: 'get_state' })).toEqual({ ...before, sessionName: 'my-feature-work' });
  expect(await peer.find('session_info_changed')).toEqual({ type: 'session_info_changed', name: 'my-feature-work' });
  expect(readSessionFile(before.sessionFile).at(-1)).toMatchObject({ type: 'session_info', name: 'my-feature-work' });
});

verifies('S24', 'a session name is one line of text', async ({ open }) => {
  const { peer } = await open();

  await peer.ok({ type: 'set_session_name', name: '  Größe\r\n\n\u{1F680}  of things ' });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'Größe \u{1F680}  of things' });
});

verifies('S26', 'an empty session name is rejected and the old one stays', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'set_session_name', name: 'kept' });
  const recordCount = peer.records.length;

  for (const name of ['', '   ', '\n', '\t \r\n']) {
    expect(await peer.refused({ type: 'set_session_name', name })).toMatchObject({
      error: 'Session name cannot be empty',
      code: 'invalid_params',
    });
  }
  for (const wrong of [{}, { name: null }, { name: 7 }]) {
    expect(await peer.refused({ type: 'set_session_name', ...wrong })).toMatchObject({ code: 'invalid_params' });
  }

  expect(peer.records.slice(recordCount).filter(({ type }) => type !== 'response')).toEqual([]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'kept' });
});

verifies(
  'S24 G8',
  'after reopening the last name of the branch applies, and an empty one clears it',
  async ({ open }) => {
    const home = newHome();
    const [top, question, reply] = shortConversation(home.cwd) as [object, object, object];
    const [other] = shortConversation(home.cwd, { id: 'stored-2' }) as [object];
    const named = entry('session_info', '11111111', 'bbbbbbbb', { name: 'first' });
    const again = entry('session_info', '22222222', '11111111', { name: 'second' });
    const cleared = entry('session_info', '33333333', '22222222', { name: '' });
    const twice = storeSession(home, [top, question, reply, named, again], { name: 'a.jsonl' });
    const none = storeSession(home, [other, question, reply, named, again, cleared], { name: 'b.jsonl' });
    const { peer } = await open({ home, args: ['--session', twice] });

    const first = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'switch_session', sessionPath: none });

    expect(first).toMatchObject({ sessionName: 'second' });
    expect(await peer.ok({ type: 'get_state' })).not.toHaveProperty('sessionName');
  },
);

verifies('S24', 'a stored name that is not a string counts as none', async ({ open }) => {
  const home = newHome();
  for (const [at, name] of [5, { a: 1 }, ['a'], true, null].entries()) {
    const lines = shortConversation(home.cwd, { id: `odd-${at}` });
    const named = entry('session_info', '11111111', 'bbbbbbbb', { name: 'first' });
    const odd = entry('session_info', '22222222', '11111111', { name });
    const path = storeSession(home, [...lines, named, odd], { name: `${at}.jsonl` });
    const { peer } = await open({ home, args: ['--session', path] });

    expect(await peer.ok({ type: 'get_state' })).not.toHaveProperty('sessionName');
  }
});

verifies(
  'S24 I16',
  'a new session has no name, and session_info_changed reports it',
  async ({ open }) => {
    const { peer } = await open();
    await peer.ok({ type: 'set_session_name', name: 'old' });
    const recordCount = peer.records.length;

    await peer.ok({ type: 'new_session' });

    expect(peer.records.slice(recordCount).filter(({ type }) => type === 'session_info_changed')).toEqual([
      { type: 'session_info_changed' },
    ]);
    expect(await peer.ok({ type: 'get_state' })).not.toHaveProperty('sessionName');
  },
  AGENT_SWITCHES_SESSION,
);

verifies('S24', 'a session can be named during a run', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'a ' }, { stall: true }] }] });
  await peer.ok({ type: 'prompt', message: 'wait' });
  await peer.next('message_update');

  await peer.ok({ type: 'set_session_name', name: 'busy' });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'busy', isStreaming: true });
  await peer.ok({ type: 'abort' });
  expect(await peer.ok({ type: 'get_messages' })).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant', stopReason: 'aborted' }],
  });
});

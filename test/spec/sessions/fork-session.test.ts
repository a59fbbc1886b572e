import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import {
  assistantEntry,
  entry,
  header,
  linesOf,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const script = [{ text: 'one' }, { text: 'two' }, { text: 'three' }];
const options = { script, args: ['--model', 'tau/scripted'] };

verifies('S13 S14 S12', 'fork copies the branch up to before a message and returns its text', async ({ open }) => {
  const { peer } = await open(options);
  await peer.run('first');
  await peer.run('second');
  const { messages } = await peer.ok({ type: 'get_messages' });
  const [, second] = (await peer.ok({ type: 'get_fork_messages' })).messages;
  const before = await peer.ok({ type: 'get_state' });

  const forked = await peer.ok({ type: 'fork', entryId: second.entryId });

  const after = await peer.ok({ type: 'get_state' });
  const { sessionId, sessionFile } = after;
  expect(forked).toEqual({ text: 'second', cancelled: false, sessionId, sessionFile });
  expect(after).toEqual({ ...before, sessionId, sessionFile, messageCount: 2 });
  expect(sessionId).not.toBe(before.sessionId);
  expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages: messages.slice(0, 2) });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'one' });
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ sessionId, sessionFile, userMessages: 1 });
});

verifies('S13 J20', 'fork leaves the source unchanged and names it as parentSession', async ({ open }) => {
  const { peer } = await open(options);
  await peer.run('first');
  await peer.run('second');
  const { sessionFile: source } = await peer.ok({ type: 'get_state' });
  const before = linesOf(source);
  const [, second] = (await peer.ok({ type: 'get_fork_messages' })).messages;

  const { sessionFile } = await peer.ok({ type: 'fork', entryId: second.entryId });
  await peer.run('instead');

  expect(linesOf(source)).toEqual(before);
  const [top, ...copy] = linesOf(sessionFile);
  expect(JSON.parse(top ?? '')).toMatchObject({ type: 'session', version: 3, parentSession: source });
  const kept = before.slice(
    1,
    before.findIndex((line) => line.includes(second.entryId)),
  );
  expect(copy.slice(0, kept.length)).toEqual(kept);
  expect(readSessionFile(sessionFile)[kept.length + 1]).toMatchObject({ parentId: JSON.parse(kept.at(-1) ?? '').id });
});

verifies('S13 S14', 'a fork at the first message is empty but keeps the model', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  await peer.run('first');
  const [first] = (await peer.ok({ type: 'get_fork_messages' })).messages;

  const forked = await peer.ok({ type: 'fork', entryId: first.entryId });

  expect(forked).toMatchObject({ text: 'first', cancelled: false });
  expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages: [] });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { id: 'scripted-small' }, messageCount: 0 });
});

verifies('S15 S11', 'only a user message can be forked', async ({ open }) => {
  const { peer } = await open(options);
  await peer.run('first');
  const before = await peer.ok({ type: 'get_state' });
  const { entries } = await peer.ok({ type: 'get_entries' });
  const others = entries.filter((one: { message?: { role: string } }) => one.message?.role !== 'user');
  expect(others.length).toBeGreaterThan(0);

  for (const { id } of [...others, { id: before.sessionId }, { id: 'ffffffff' }]) {
    for (const type of ['fork', 'branch']) {
      expect(await peer.refused({ type, entryId: id })).toMatchObject({ command: type, code: 'not_found' });
    }
  }

  expect(await peer.ok({ type: 'get_state' })).toEqual(before);
});

verifies('S17 S18 S12 J20', 'clone copies the active branch and switches to the copy', async ({ open }) => {
  const { peer } = await open(options);
  await peer.run('first');
  await peer.ok({ type: 'set_session_name', name: 'shop' });
  const before = await peer.ok({ type: 'get_state' });
  const { messages } = await peer.ok({ type: 'get_messages' });

  const moved = await peer.ok({ type: 'clone' });

  const after = await peer.ok({ type: 'get_state' });
  const { sessionId, sessionFile } = after;
  expect(moved).toEqual({ cancelled: false, sessionId, sessionFile });
  expect(after).toEqual({ ...before, sessionId, sessionFile });
  expect(sessionId).not.toBe(before.sessionId);
  expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages });
  expect(linesOf(sessionFile).slice(1)).toEqual(linesOf(before.sessionFile).slice(1));
  expect(readSessionFile(sessionFile)[0]).toMatchObject({ id: sessionId, parentSession: before.sessionFile });
});

verifies('S17', 'clone does not copy other branches', async ({ open }) => {
  const home = newHome();
  const [top, question, reply] = shortConversation(home.cwd) as [object, object, object];
  const path = storeSession(home, [
    top,
    question,
    reply,
    userEntry('cccccccc', null, 'again'),
    assistantEntry('dddddddd', 'cccccccc', 'two'),
  ]);
  const { peer } = await open({ home, args: ['--session', path] });

  const { sessionFile } = await peer.ok({ type: 'clone' });

  expect(
    readSessionFile(sessionFile)
      .slice(1)
      .map(({ id }) => id),
  ).toEqual(['cccccccc', 'dddddddd']);
  expect(await peer.ok({ type: 'get_fork_messages' })).toEqual({ messages: [{ entryId: 'cccccccc', text: 'again' }] });
});

verifies('S20 S21', 'get_fork_messages lists the user messages of every branch, in file order', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [
    header(home.cwd),
    userEntry('00000001', null, 'left behind'),
    userEntry('00000002', null, 'root'),
    assistantEntry('00000003', '00000002', 'answer'),
    userEntry('00000004', '00000003', 'left too'),
    entry('message', '00000005', '00000003', { message: { role: 'user', content: 'plain text', timestamp: 1 } }),
    entry('label', '00000006', '00000005', { targetId: '00000002', label: 'here' }),
  ]);
  const { peer } = await open({ home, args: ['--session', path] });

  const points = await peer.ok({ type: 'get_fork_messages' });

  expect(points).toEqual({
    messages: [
      { entryId: '00000001', text: 'left behind' },
      { entryId: '00000002', text: 'root' },
      { entryId: '00000004', text: 'left too' },
      { entryId: '00000005', text: 'plain text' },
    ],
  });
});

verifies('S13 S14', 'a message of an inactive branch can be forked', async ({ open }) => {
  const home = newHome();
  const lines = [
    ...shortConversation(home.cwd),
    userEntry('cccccccc', 'bbbbbbbb', 'left'),
    userEntry('dddddddd', 'bbbbbbbb', 'taken'),
  ];
  const { peer } = await open({ home, args: ['--session', storeSession(home, lines)] });

  const forked = await peer.ok({ type: 'fork', entryId: 'cccccccc' });

  expect(forked).toMatchObject({ text: 'left', cancelled: false });
  expect(
    readSessionFile(forked.sessionFile)
      .slice(1)
      .map(({ id }) => id),
  ).toEqual(['aaaaaaaa', 'bbbbbbbb']);
});

verifies('S14 S20', 'the text of a message is all of its text blocks', async ({ open }) => {
  const { peer } = await open(options);
  const image = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' };
  await peer.run({ message: 'look: ü \u2028 𝒳', images: [image] });
  const [first] = (await peer.ok({ type: 'get_fork_messages' })).messages;

  const { text } = await peer.ok({ type: 'fork', entryId: first.entryId });

  expect([first.text, text]).toEqual(['look: ü \u2028 𝒳', 'look: ü \u2028 𝒳']);
});

verifies(
  'S22 S23',
  'branch is an alias of fork',
  async ({ open }) => {
    const { peer } = await open(options);
    await peer.run('first');
    await peer.run('second');
    const points = await peer.ok({ type: 'get_fork_messages' });

    const list = await peer.request({ type: 'get_branch_messages' });
    const branched = await peer.request({ type: 'branch', entryId: points.messages[1].entryId });

    expect(list).toMatchObject({ command: 'get_branch_messages', success: true, data: points });
    expect(branched).toMatchObject({ command: 'branch', success: true, data: { text: 'second', cancelled: false } });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
  },
  // A server moves the client itself.
  ['memory', 'websocket'],
);

verifies(
  'S13 S17 Z8',
  'without session files copies are made in memory',
  async ({ open }) => {
    const { peer, sessionFiles } = await open({ ...options, args: ['--no-session'] });
    await peer.run('first');
    await peer.run('second');
    const { messages } = await peer.ok({ type: 'get_messages' });
    const [, second] = (await peer.ok({ type: 'get_fork_messages' })).messages;

    const cloned = await peer.ok({ type: 'clone' });
    expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages });
    const forked = await peer.ok({ type: 'fork', entryId: second.entryId });

    expect(cloned).toEqual({ cancelled: false, sessionId: expect.any(String) });
    expect(forked).toEqual({ text: 'second', cancelled: false, sessionId: expect.any(String) });
    expect(await peer.ok({ type: 'get_messages' })).toEqual({ messages: messages.slice(0, 2) });
    expect(sessionFiles()).toEqual([]);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'S17 Z8',
  'without session files a stored session is copied in memory too',
  async ({ open }) => {
    const home = newHome();
    const sessionPath = storeSession(home, shortConversation(home.cwd));
    const { peer, sessionFiles } = await open({ home, args: ['--no-session'] });
    await peer.ok({ type: 'switch_session', sessionPath });

    const cloned = await peer.ok({ type: 'clone' });

    expect(cloned).toEqual({ cancelled: false, sessionId: expect.any(String) });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
    expect(sessionFiles()).toEqual([sessionPath]);
  },
  LOCAL_TRANSPORTS,
);

verifies('J20', 'labels move to the end of a copy, and their children stay connected', async ({ open }) => {
  const home = newHome();
  const [top, question, reply] = shortConversation(home.cwd) as [object, object, object];
  const path = storeSession(home, [
    top,
    question,
    entry('label', '11111111', 'aaaaaaaa', { targetId: 'aaaaaaaa', label: 'start' }),
    { ...reply, parentId: '11111111' },
  ]);
  const { peer } = await open({ home, args: ['--session', path] });

  const { sessionFile } = await peer.ok({ type: 'clone' });

  const [, ...copy] = readSessionFile(sessionFile);
  expect(copy.slice(0, 2)).toEqual([question, reply]);
  expect(copy.slice(2)).toEqual([
    {
      type: 'label',
      id: expect.any(String),
      parentId: 'bbbbbbbb',
      timestamp: expect.any(String),
      targetId: 'aaaaaaaa',
      label: 'start',
    },
  ]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
});

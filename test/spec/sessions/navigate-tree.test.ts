import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newGate, newHome, openTestAgent, type TestAgent } from '../../support/agent/test-agent.ts';
import { briefConversation, entryIdOf, getEntries, getLeafId } from '../../support/sessions/session-tree.ts';
import { assistantEntry, entry, header, storeSession, userEntry } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const files = ({ sessionFiles }: TestAgent) => sessionFiles().map((path) => readFileSync(path, 'utf8'));

const script = [{ text: 'one' }, { text: 'two' }, { text: 'three' }, { text: 'four' }];

verifies('S35 S58', 'navigate_tree to a user message returns its text; its parent is the leaf', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');
  await peer.run('second');
  const before = await entryIdOf(peer, 'one');

  const result = await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second') });

  expect(result).toEqual({ cancelled: false, editorText: 'second' });
  expect(await getLeafId(peer)).toBe(before);
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one']);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
  await peer.run('other');
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', 'user: other', 'assistant: three']);
  const entries = await getEntries(peer);
  const texts = entries.filter(({ type, parentId }) => type === 'message' && parentId === before);
  expect(texts).toMatchObject([{ message: { role: 'user' } }, { message: { role: 'user' } }]);
});

verifies('S35 S58', 'navigate_tree to another entry makes it the leaf and keeps the other branch', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');
  await peer.run('second');
  const [one, two] = [await entryIdOf(peer, 'one'), await entryIdOf(peer, 'two')];

  expect(await peer.ok({ type: 'navigate_tree', targetId: one })).toEqual({ cancelled: false });
  expect(await getLeafId(peer)).toBe(one);
  await peer.run('other');
  expect(await peer.ok({ type: 'navigate_tree', targetId: two })).toEqual({ cancelled: false });

  expect(await getLeafId(peer)).toBe(two);
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', 'user: second', 'assistant: two']);
  expect((await peer.ok({ type: 'get_fork_messages' })).messages.map(({ text }: { text: string }) => text)).toEqual([
    'first',
    'second',
    'other',
  ]);
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'two' });
});

verifies('S58', 'navigate_tree to the first message empties the conversation', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [
    header(home.cwd),
    userEntry('aaaaaaaa', null, 'first'),
    assistantEntry('bbbbbbbb', 'aaaaaaaa', 'one'),
  ]);
  const { peer } = await open({ home, args: ['--session', path], script });

  const result = await peer.ok({ type: 'navigate_tree', targetId: 'aaaaaaaa' });

  expect(result).toEqual({ cancelled: false, editorText: 'first' });
  expect(await getLeafId(peer)).toBe(null);
  expect(await briefConversation(peer)).toEqual([]);
  await peer.run('anew');
  expect(await briefConversation(peer)).toEqual(['user: anew', 'assistant: one']);
});

verifies('S58', 'navigate_tree to an extension message acts as for a user message', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [
    header(home.cwd),
    userEntry('aaaaaaaa', null, 'first'),
    entry('custom_message', 'cccccccc', 'aaaaaaaa', { customType: 'note', content: 'by the way', display: true }),
    assistantEntry('bbbbbbbb', 'cccccccc', 'one'),
  ]);
  const { peer } = await open({ home, args: ['--session', path] });

  const result = await peer.ok({ type: 'navigate_tree', targetId: 'cccccccc' });

  expect(result).toEqual({ cancelled: false, editorText: 'by the way' });
  expect(await getLeafId(peer)).toBe('aaaaaaaa');
});

verifies('S58', 'navigate_tree to the leaf changes nothing', async ({ open }) => {
  const agent = await open({ script });
  const { peer } = agent;
  await peer.run('first');
  const before = files(agent);
  const targetId = await getLeafId(peer);

  expect(await peer.ok({ type: 'navigate_tree', targetId, summarize: true, label: 'here' })).toEqual({
    cancelled: false,
  });

  expect(files(agent)).toEqual(before);
});

verifies('S60', 'navigate_tree to an unknown entry is rejected', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');

  const refusal = await peer.refused({ type: 'navigate_tree', targetId: 'nowhere' });

  expect(refusal).toMatchObject({ code: 'not_found', error: 'Entry not found: nowhere' });
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one']);
});

verifies('S60', 'navigate_tree during a run is rejected, and the run continues', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ text: 'one' }, { steps: [{ text: 'two' }, { await: gate.path }] }, { text: 'three' }],
  });
  await peer.run('first');
  const targetId = await entryIdOf(peer, 'one');
  await peer.ok({ type: 'prompt', message: 'second' });
  await peer.next('message_update');

  const refusal = await peer.refused({ type: 'navigate_tree', targetId, summarize: true });

  expect(refusal).toMatchObject({ code: 'agent_busy', error: expect.stringContaining('busy') });
  gate.open();
  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', 'user: second', 'assistant: two']);
});

verifies('S63', 'navigate_tree publishes state_changed and keeps name and statistics', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');
  await peer.run('second');
  await peer.ok({ type: 'set_session_name', name: 'shop' });
  const stats = await peer.ok({ type: 'get_session_stats' });
  const start = peer.records.length;

  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second') });

  const records = peer.records.slice(start).filter(({ type }) => type !== 'response');
  expect(records).toEqual([{ type: 'state_changed', state: { messageCount: 2 } }]);
  const { contextUsage: before, ...kept } = stats;
  const { contextUsage: after, ...now } = await peer.ok({ type: 'get_session_stats' });
  expect(now).toEqual(kept);
  expect(after.tokens).toBeLessThan(before.tokens);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'shop', messageCount: 2 });
});

verifies('S63', 'navigate_tree publishes state_changed even if the message count stays the same', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');
  await peer.run('second');
  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second') });
  await peer.run('other');
  const start = peer.records.length;

  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'two') });

  expect(peer.records.slice(start)).toContainEqual({ type: 'state_changed', state: { messageCount: 4 } });
});

verifies('S53 S63', 'a cursor on the old branch is rejected, one on the shared part stays valid', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');
  await peer.run('second');
  const shared = await peer.ok({ type: 'get_messages_page', limit: 1 });
  const left = await peer.ok({ type: 'get_messages_page', limit: 3 });

  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second') });
  await peer.run('other');

  const refusal = await peer.refused({ type: 'get_messages_page', cursor: left.nextCursor });
  const rest = await peer.ok({ type: 'get_messages_page', cursor: shared.nextCursor });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(refusal).toMatchObject({ code: 'not_found' });
  expect([...shared.messages, ...rest.messages]).toEqual(messages);
});

verifies('S62', 'navigate_tree sets the label on the new leaf', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');
  await peer.run('second');
  const one = await entryIdOf(peer, 'one');

  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second'), label: 'fork in the road' });

  const found: unknown[] = [];
  const { tree, leafId } = await peer.ok({ type: 'get_tree' });
  const pending = [...tree];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.label) found.push([node.entry.id, node.label, node.labelTimestamp]);
    pending.push(...node.children);
  }
  expect(found).toEqual([[one, 'fork in the road', expect.any(String)]]);
  expect((await getEntries(peer)).at(-1)).toMatchObject({ id: leafId, type: 'label', targetId: one, parentId: one });
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one']);
});

verifies('S35 I8', 'navigate_tree publishes an entry to clients that follow entries', async ({ open }) => {
  const { peer } = await open({ script });
  await peer.run('first');
  await peer.ok({ type: 'hello', entries: true });
  const targetId = await entryIdOf(peer, 'one');
  await peer.run('second');
  const start = peer.records.length;

  await peer.ok({ type: 'navigate_tree', targetId });

  const records = peer.records.slice(start);
  expect(records.map(({ type }) => type)).toEqual(['entry_appended', 'state_changed', 'response']);
  expect(records[0]).toMatchObject({ entry: { type: 'custom', customType: 'tau:leaf', parentId: targetId } });
});

verifies('S35 S17', 'fork and clone continue from the new leaf', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'three', when: '^other$' }, ...script] });
  await peer.run('first');
  await peer.run('second');
  const original = (await peer.ok({ type: 'get_state' })).sessionFile;
  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'one') });

  await peer.ok({ type: 'clone' });
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one']);
  expect(JSON.stringify(await getEntries(peer))).not.toContain('tau:leaf');
  await peer.ok({ type: 'switch_session', sessionPath: original });
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one']);
  await peer.ok({ type: 'fork', entryId: await entryIdOf(peer, 'second') });

  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one']);
  await peer.run('other');
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', 'user: other', 'assistant: three']);
});

it('[S61] the leaf survives SIGKILL and every later start', async () => {
  const first = await openTestAgent('stdio', { script });
  await first.peer.run('first');
  await first.peer.run('second');
  await first.peer.ok({ type: 'set_session_name', name: 'shop' });
  const one = await entryIdOf(first.peer, 'one');
  await first.peer.ok({ type: 'navigate_tree', targetId: one });
  first.process?.kill('SIGKILL');
  await first.process?.exited;

  for (const _start of [1, 2]) {
    const again = await openTestAgent('stdio', { home: first.home, args: ['--continue'] });
    expect(await getLeafId(again.peer)).toBe(one);
    expect(await briefConversation(again.peer)).toEqual(['user: first', 'assistant: one']);
    expect(await again.peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2, sessionName: 'shop' });
    await again.close();
  }
  const last = await openTestAgent('stdio', { home: first.home, args: ['--continue'], script: [{ text: 'three' }] });
  await last.peer.run('other');
  const leaf = await getLeafId(last.peer);
  await last.close();
  const end = await openTestAgent('stdio', { home: first.home, args: ['--continue'] });
  expect(await getLeafId(end.peer)).toBe(leaf);
  expect(await briefConversation(end.peer)).toEqual([
    'user: first',
    'assistant: one',
    'user: other',
    'assistant: three',
  ]);
});

it('[S61] a leaf before the first entry survives a restart', async () => {
  const home = newHome();
  const path = storeSession(home, [
    header(home.cwd),
    userEntry('aaaaaaaa', null, 'first'),
    assistantEntry('bbbbbbbb', 'aaaaaaaa', 'one'),
  ]);
  const args = ['--session', path];
  const agent = await openTestAgent('stdio', { home, args });
  await agent.peer.ok({ type: 'navigate_tree', targetId: 'aaaaaaaa' });
  await agent.close();

  const again = await openTestAgent('stdio', { home, args, script });

  expect(await getLeafId(again.peer)).toBe(null);
  expect(await briefConversation(again.peer)).toEqual([]);
  await again.peer.run('anew');
  expect(await briefConversation(again.peer)).toEqual(['user: anew', 'assistant: one']);
});

it('[S61 J11] a tool call made the leaf by navigation is not repaired as interrupted', async () => {
  const callsBash = { steps: [{ toolCall: { name: 'bash', arguments: { command: 'true' } } }] };
  const first = await openTestAgent('stdio', { script: [callsBash, { text: 'done' }] });
  await first.peer.run('first');
  const calling = (await getEntries(first.peer)).find(
    (found) => found.type === 'message' && JSON.stringify(found.message).includes('"toolCall"'),
  );
  await first.peer.ok({ type: 'navigate_tree', targetId: calling?.id });
  await first.close();

  const again = await openTestAgent('stdio', { home: first.home, args: ['--continue'] });

  expect(await getLeafId(again.peer)).toBe(calling?.id);
  expect(await again.peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
  expect(again.peer.records.map(({ type }) => type)).not.toContain('session_repaired');
});

it('[S63 P45] after navigation and SIGKILL queued messages stay queued and removed ones stay removed', async () => {
  const first = await openTestAgent('stdio', { script: [{ text: 'one' }, { stall: true }] });
  const { peer } = first;
  await peer.run('first');
  const targetId = await entryIdOf(peer, 'one');
  await peer.ok({ type: 'prompt', message: 'second' });
  await peer.next('agent_start');
  const { queueId } = await peer.ok({ type: 'follow_up', message: 'not this' });
  await peer.ok({ type: 'follow_up', message: 'but this' });
  await peer.ok({ type: 'abort' });
  const later = await getLeafId(peer);
  await peer.ok({ type: 'remove_queued', queueId });

  await peer.ok({ type: 'navigate_tree', targetId: later });
  await peer.ok({ type: 'navigate_tree', targetId });
  first.process?.kill('SIGKILL');
  await first.process?.exited;
  const again = await openTestAgent('stdio', {
    home: first.home,
    args: ['--continue'],
    script: [{ text: 'ok' }, { text: 'yes' }],
  });

  expect(await again.peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 1, messageCount: 2 });
  await again.peer.run('third');
  expect(await briefConversation(again.peer)).toEqual([
    'user: first',
    'assistant: one',
    'user: third',
    'assistant: ok',
    'user: but this',
    'assistant: yes',
  ]);
});

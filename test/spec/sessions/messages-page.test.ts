import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { MAX_MESSAGE_PAGE_BYTES } from '../../../src/session/context/message-page.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { storeLargeConversation } from '../../support/sessions/long-conversation.ts';
import {
  assistantEntry,
  entry,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

/** Requests all pages of this size. */
async function pages(peer: Peer, limit: number) {
  const found = [await peer.ok({ type: 'get_messages_page', limit })];
  for (let { nextCursor } = found[0]; nextCursor !== undefined; nextCursor = found.at(-1).nextCursor) {
    found.push(await peer.ok({ type: 'get_messages_page', limit, cursor: nextCursor }));
  }
  return found;
}

verifies('S36 S53', 'the pages together are the conversation', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [
    ...shortConversation(home.cwd),
    userEntry('cccccccc', 'bbbbbbbb', 'second'),
    assistantEntry('dddddddd', 'cccccccc', 'two'),
    userEntry('eeeeeeee', 'dddddddd', 'third'),
  ]);
  const { peer } = await open({ home, args: ['--session', path] });

  const found = await pages(peer, 2);
  const whole = await peer.ok({ type: 'get_messages_page' });

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(found.map((page) => page.messages.length)).toEqual([2, 2, 1]);
  expect(found.flatMap((page) => page.messages)).toEqual(messages);
  expect(found.map(({ totalMessages }) => totalMessages)).toEqual([5, 5, 5]);
  expect(whole).toEqual({ messages, totalMessages: 5 });
});

verifies('S36', 'an empty conversation is one empty page', async ({ open }) => {
  const { peer } = await open();

  expect(await peer.ok({ type: 'get_messages_page' })).toEqual({ messages: [], totalMessages: 0 });
});

verifies('S53', 'cursors stay valid while a run adds messages', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ text: 'one' }, { steps: [{ text: 'two' }, { await: gate.path }] }] });
  await peer.run('first');
  const before = await peer.ok({ type: 'get_messages_page', limit: 1 });

  await peer.ok({ type: 'prompt', message: 'second' });
  await peer.next('message_update');
  const during = await peer.ok({ type: 'get_messages_page', limit: 1, cursor: before.nextCursor });
  gate.open();
  await peer.next('agent_settled');
  const after = await peer.ok({ type: 'get_messages_page', cursor: during.nextCursor });

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect([before, during, after].flatMap((page) => page.messages)).toEqual(messages);
  expect([before, during, after].map(({ totalMessages }) => totalMessages)).toEqual([2, 3, 4]);
});

verifies('S53', 'a cursor of another conversation is rejected', async ({ open }) => {
  const home = newHome();
  const lines = shortConversation(home.cwd, { id: 'compacted' });
  const compaction = { summary: 'what was said', firstKeptEntryId: 'aaaaaaaa', tokensBefore: 100 };
  const plain = storeSession(home, shortConversation(home.cwd), { name: 'plain.jsonl' });
  const compacted = storeSession(home, [...lines, entry('compaction', 'cccccccc', 'bbbbbbbb', compaction)], {
    name: 'compacted.jsonl',
  });
  const { peer } = await open({ home, args: ['--session', plain] });
  const { nextCursor: cursor } = await peer.ok({ type: 'get_messages_page', limit: 1 });

  await peer.ok({ type: 'switch_session', sessionPath: compacted });
  const afterCompaction = await peer.refused({ type: 'get_messages_page', cursor });
  const { messages } = await peer.ok({ type: 'get_messages_page', limit: 1 });
  await peer.ok({ type: 'new_session' });
  const elsewhere = await peer.refused({ type: 'get_messages_page', cursor });

  expect(messages).toMatchObject([{ role: 'compactionSummary', summary: 'what was said' }]);
  for (const refusal of [afterCompaction, elsewhere]) {
    expect(refusal).toMatchObject({ code: 'not_found', error: expect.stringContaining('no longer the one') });
  }
  expect(await peer.refused({ type: 'get_messages_page', limit: 0 })).toMatchObject({ code: 'invalid_params' });
});

verifies('S64', 'messages replaced by compactions can be read page by page from the end', async ({ open }) => {
  const home = newHome();
  const compaction = (id: string, parentId: string, firstKeptEntryId: string) =>
    entry('compaction', id, parentId, { summary: `until ${id}`, firstKeptEntryId, tokensBefore: 100 });
  const path = storeSession(home, [
    ...shortConversation(home.cwd),
    compaction('cccccccc', 'bbbbbbbb', 'bbbbbbbb'),
    userEntry('dddddddd', 'cccccccc', 'second'),
    assistantEntry('eeeeeeee', 'dddddddd', 'two'),
    compaction('ffffffff', 'eeeeeeee', 'eeeeeeee'),
    userEntry('gggggggg', 'ffffffff', 'third'),
  ]);
  const { peer } = await open({ home, args: ['--session', path] });
  const replaced = { type: 'get_messages_page', replaced: true, from: 'end', limit: 3 };

  const last = await peer.ok(replaced);
  const first = await peer.ok({ ...replaced, cursor: last.nextCursor });
  const conversationNow = await peer.ok({ type: 'get_messages_page' });

  expect([...first.messages, ...last.messages].map(textOf)).toEqual(['first', 'one', 'until cccccccc', 'second']);
  expect(conversationNow.messages.map(textOf)).toEqual(['until ffffffff', 'two', 'third']);
  expect([last.totalMessages, first.totalMessages, conversationNow.totalMessages]).toEqual([4, 4, 3]);
  expect(first.nextCursor).toBeUndefined();
});

verifies('S64', 'without a compaction no messages are replaced', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const { peer } = await open({ home, args: ['--session', path] });

  const page = await peer.ok({ type: 'get_messages_page', replaced: true });

  expect(page).toEqual({ messages: [], totalMessages: 0 });
});

const textOf = ({ summary, content }: { summary?: string; content?: { text: string }[] }) =>
  summary ?? content?.[0]?.text;

verifies(
  'G34 G35',
  'pages of a session of 40 MB are small and cost little memory',
  async ({ open }) => {
    const home = newHome();
    const session = storeLargeConversation(home, 40);
    const { peer, process } = await open({ home, args: ['--session', session] });
    const peakMegabytes = () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${process?.pid}/status`, 'utf8'))?.[1]) / 1024;
    await peer.ok({ type: 'get_messages_page', from: 'end', limit: 1 });
    const before = peakMegabytes();

    const queries = [{ limit: 50 }, { limit: 50, from: 'end' }, {}, { from: 'end' }, { limit: 1_000_000 }];
    const found = await Promise.all(queries.map((query) => peer.ok({ type: 'get_messages_page', ...query })));

    for (const { messages, nextCursor } of found) {
      expect(messages.length).toBeGreaterThan(1);
      expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThanOrEqual(MAX_MESSAGE_PAGE_BYTES + 1);
      expect(nextCursor).toBeDefined();
    }
    expect(peakMegabytes() - before).toBeLessThan(40);
  },
  ['stdio'],
);

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import {
  assistantEntry,
  assistantMessage,
  entry,
  header,
  linesOf,
  storeSession,
  usage,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

/** Lines that tau does not write: other spacing, field order, types and fields. */
const foreignLines = [
  '{"type":"session","version":3,"id":"stored-1","timestamp":"t","cwd":"CWD","flavour":{"new":true}}',
  '{"type": "hologram", "id": "00000001", "parentId": null, "timestamp": "2027-01-01T00:00:00.000Z", "depth": 3.0}',
  '{"id":"00000002","parentId":"00000001","type":"message","timestamp":"2027-01-01T00:00:00.000Z","mood":"good","message":{"timestamp":1,"role":"user","content":"first","colour":"red"}}',
  '{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2027-01-01T00:00:00.000Z","message":{"role":"narrator","content":"Meanwhile","timestamp":2}}',
  'this line is no JSON at all',
  '{"no":"type"}',
  '{"type":"future_note","id":"a-long-id-of-another-kind","parentId":"00000003","timestamp":"2027-01-01T00:00:00.000Z","text":"\\u00e9\\u2028"}',
];
const linesIn = (cwd: string) => foreignLines.map((line) => line.replace('CWD', cwd));

verifies('J15', 'unknown lines stay in the file when tau writes to it', async ({ open }) => {
  const home = newHome();
  const lines = linesIn(home.cwd);
  const path = storeSession(home, lines);
  const first = await open({ home, hasForeignFields: true, args: ['--session', path], script: [{ text: 'one' }] });

  await first.peer.run('second');
  await first.peer.ok({ type: 'set_session_name', name: 'strange' });
  await first.close();
  const again = await open({ home, hasForeignFields: true, args: ['--session', path], script: [{ text: 'two' }] });
  await again.peer.run('third');

  expect(linesOf(path).slice(0, lines.length)).toEqual(lines);
  const { messages } = await again.peer.ok({ type: 'get_messages' });
  const texts = messages.flatMap(({ content }: { content: { text?: string }[] }) => content[0]?.text ?? []);
  expect(texts).toEqual(['second', 'one', 'third', 'two']);
});

verifies('J15', 'opening and closing a session changes no byte', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, linesIn(home.cwd));
  const before = readFileSync(path);
  const agent = await open({ home, hasForeignFields: true, args: ['--session', path] });
  await agent.peer.ok({ type: 'get_state' });
  await agent.peer.ok({ type: 'get_tree' });

  await agent.close();

  expect(readFileSync(path)).toEqual(before);
});

verifies('J15 J20', 'a copy holds the unknown entries of its branch byte for byte', async ({ open }) => {
  const home = newHome();
  const lines = linesIn(home.cwd);
  const { peer } = await open({ home, hasForeignFields: true, args: ['--session', storeSession(home, lines)] });

  const { sessionFile } = await peer.ok({ type: 'clone' });

  const copied = linesOf(sessionFile).slice(1);
  expect(copied.slice(0, 4)).toEqual([lines[1], lines[2], lines[3], lines[6]]);
});

verifies('J15', 'unknown entries are returned unchanged', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({
    home,
    hasForeignFields: true,
    args: ['--session', storeSession(home, linesIn(home.cwd))],
  });

  const { entries } = await peer.ok({ type: 'get_entries', limit: 4 });

  expect(entries).toEqual([1, 2, 3, 6].map((index) => JSON.parse(foreignLines[index] ?? '')));
});

const system = { role: 'system', content: 'You are pi.', sections: [{ id: 'a' }], toolsAdded: ['read'], timestamp: 1 };
const failed = assistantMessage({ content: [], stopReason: 'error', errorMessage: '529 Overloaded', durationMs: 12 });
/** Lines of a later pi version: system messages, edited assistant messages and usage of other calls. */
const laterVersionLines = (cwd: string) => [
  header(cwd),
  entry('message', '00000001', null, { message: system }),
  userEntry('00000002', '00000001', 'first'),
  entry('message', '00000003', '00000002', { message: failed }),
  entry('context_edit', '00000004', '00000003', { targetId: '00000003', replacement: null }),
  assistantEntry('00000005', '00000004', 'secret'),
  entry('context_edit', '00000006', '00000005', {
    targetId: '00000005',
    replacement: { content: 'removed' },
  }),
  entry('usage', '00000007', '00000006', { kind: 'title', provider: 'p', model: 'm', usage: usage(7, 3) }),
  entry('message', '00000008', '00000007', { message: { ...system, toolsRemoved: ['bash'] } }),
];

verifies(
  'J19 D15 G10 G18',
  'a session of a later pi version is read without its system messages and with its edits',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, laterVersionLines(home.cwd));
    const { peer } = await open({ home, hasForeignFields: true, args: ['--session', path], script: [{ text: 'two' }] });

    const state = await peer.ok({ type: 'get_state' });
    const { messages } = await peer.ok({ type: 'get_messages' });
    const stats = await peer.ok({ type: 'get_session_stats' });

    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'first' }], timestamp: 1 },
      assistantMessage({ content: [{ type: 'text', text: 'removed' }] }),
    ]);
    expect(state.messageCount).toBe(2);
    expect(stats).toMatchObject({
      userMessages: 1,
      assistantMessages: 2,
      totalMessages: 3,
      tokens: { input: 27, output: 13 },
    });
    expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'removed' });
  },
);

verifies('J19 J15', 'system messages stay in the file and in a copy', async ({ open }) => {
  const home = newHome();
  const lines = laterVersionLines(home.cwd);
  const path = storeSession(home, lines);
  const { peer } = await open({ home, hasForeignFields: true, args: ['--session', path], script: [{ text: 'two' }] });

  const records = await peer.run('second');
  const { sessionFile } = await peer.ok({ type: 'clone' });

  expect(JSON.stringify(records)).not.toContain('You are pi.');
  expect(await peer.ok({ type: 'get_entries', limit: 1 })).toMatchObject({ entries: [lines[1]] });
  expect(readSessionFile(path).slice(0, lines.length)).toEqual(lines);
  expect(readSessionFile(sessionFile).slice(1, lines.length)).toEqual(lines.slice(1));
});

verifies('J15', 'an unknown stop reason does not stop the conversation', async ({ open }) => {
  const home = newHome();
  const pending = entry('message', 'bbbbbbbb', 'aaaaaaaa', {
    message: assistantMessage({ stopReason: 'pending', responseId: 'r' }),
  });
  const path = storeSession(home, [header(home.cwd), userEntry('aaaaaaaa', null, 'first'), pending]);
  const { peer } = await open({ home, hasForeignFields: true, args: ['--session', path], script: [{ text: 'two' }] });

  const records = await peer.run('second');

  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  expect(readSessionFile(path)[2]).toEqual(pending);
});

const malformedUsage = [
  { usage: null },
  { usage: undefined },
  { usage: 'much' },
  { usage: {} },
  { usage: { cost: null } },
];
for (const fields of malformedUsage) {
  verifies(
    'J37',
    `a session with ${JSON.stringify(fields)} can be counted, compacted and continued`,
    async ({ open }) => {
      const home = newHome();
      const answer = assistantEntry('00000002', '00000001', 'one', fields);
      const lines = [header(home.cwd), userEntry('00000001', null, 'first '.repeat(4000)), answer];
      const path = storeSession(home, lines);
      const { peer } = await open({
        home,
        args: ['--session', path],
        settings: { compaction: { keepRecentTokens: 1 } },
        script: [{ steps: [{ text: 'two' }, { usage: { input: 7, output: 3 } }] }, { text: 'a summary' }],
      });

      const before = await peer.ok({ type: 'get_session_stats' });
      const records = await peer.run('second');
      await peer.ok({ type: 'compact' });

      expect(before).toMatchObject({ assistantMessages: 1, tokens: { total: 0 }, cost: 0 });
      expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
      expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ assistantMessages: 2 });
      expect(readSessionFile(path)[2]).toEqual(JSON.parse(JSON.stringify(answer)));
    },
  );
}

import { expect } from 'vitest';
import { allNotifications, bash, homeWithCommands } from '../../support/agent/extensions.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { readSessionFile } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

verifies('X58 X59', 'a turn_end handler edits the tool result of its turn by its id', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `pi.on('turn_end', ({ outcome, messageEntryId, toolResultEntryIds, toolResults }, ctx) => {
      tell(ctx, [outcome, ctx.sessionManager.getEntry(messageEntryId).message.role, toolResultEntryIds.length]);
      if (toolResults.length > 0) {
        return { entries: [{ type: 'context_edit', targetId: toolResultEntryIds[0], replacement: { content: 'short' } }] };
      }
    });`,
  );
  const { peer, sessionFiles } = await open({ home, script: [bash('echo long'), { text: 'done' }] });

  await peer.run('go');

  expect(allNotifications(peer)).toEqual([
    ['completed', 'assistant', 1],
    ['completed', 'assistant', 0],
  ]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[2]).toMatchObject({
    role: 'toolResult',
    toolName: 'bash',
    content: [{ type: 'text', text: 'short' }],
  });
  const edit = readSessionFile(sessionFiles()[0] ?? '').find(({ type }) => type === 'context_edit');
  expect(edit).toMatchObject({ replacement: { content: [{ type: 'text', text: 'short' }] } });
});

verifies('X59', 'handlers see the drafts before them and may replace the list', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `const custom = (customType) => ({ type: 'custom', customType });
    pi.on('agent_before_settle', () => ({ entries: [custom('first'), custom('second')] }));
    pi.on('agent_before_settle', ({ entries, outcome, context }, ctx) => {
      tell(ctx, [outcome, context.contextMessages.map(({ role }) => role), context.llmMessages.length, context.canContinue]);
      return { entries: entries.slice(1) };
    });
    pi.on('agent_before_settle', ({ entries }, ctx) => tell(ctx, entries.map(({ customType }) => customType)));`,
  );
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'one' }] });

  await peer.run('go');

  expect(allNotifications(peer)).toEqual([['completed', ['user', 'assistant'], 2, false], ['second']]);
  const stored = readSessionFile(sessionFiles()[0] ?? '').flatMap(({ customType }) => customType ?? []);
  expect(stored.filter((name) => name === 'first' || name === 'second')).toEqual(['second']);
});

verifies('X59', 'drafts that do not apply are reported, and none of the list is stored', async ({ open }) => {
  const { home, path } = homeWithCommands(
    {},
    `pi.on('turn_end', () => ({ entries: [
      { type: 'custom', customType: 'memo' },
      { type: 'context_edit', targetId: 'missing', replacement: null },
    ] }));`,
  );
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'one' }] });

  const records = await peer.run('go');

  expect(records.filter(({ type }) => type === 'extension_error')).toMatchObject([
    { extensionPath: path, event: 'turn_end', error: 'Entry missing is not on the active branch' },
  ]);
  expect(JSON.stringify(readSessionFile(sessionFiles()[0] ?? ''))).not.toContain('memo');
});

verifies('X59', 'a continuation without a message to answer is reported and ends the run', async ({ open }) => {
  const { home } = homeWithCommands({}, "pi.on('turn_end', () => ({ continue: true }));");
  const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'never' }] });

  const records = await peer.run('go');

  expect(assistantTexts(records)).toEqual(['one']);
  expect(records.filter(({ type }) => type === 'extension_error')).toMatchObject([
    { event: 'turn_end', error: 'turn_end cannot continue: no message waits for an answer' },
  ]);
});

verifies('X60', 'a compaction draft replaces the conversation by its summary', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `let kept = null;
    pi.on('agent_before_settle', () => {
      const usage = { input: 5, output: 1, cost: { total: 0.5 } };
      return { entries: [{ type: 'compaction', summary: 'so far', firstKeptEntryId: kept, usage }] };
    });
    pi.on('turn_end', ({ messageEntryId, turnIndex }) => { kept = turnIndex === 0 ? kept : messageEntryId; });`,
  );
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'one' }, bash('true'), { text: 'two' }] });

  await peer.run('first');
  const { messages: afterFirst } = await peer.ok({ type: 'get_messages' });
  await peer.run('second');
  const { messages: afterSecond } = await peer.ok({ type: 'get_messages' });

  expect(afterFirst).toMatchObject([{ role: 'compactionSummary', summary: 'so far' }]);
  expect(afterSecond).toMatchObject([
    { role: 'compactionSummary', summary: 'so far' },
    { role: 'assistant', content: [{ text: 'two' }] },
  ]);
  const [first] = readSessionFile(sessionFiles()[0] ?? '').filter(({ type }) => type === 'compaction');
  expect(first).toMatchObject({
    fromHook: true,
    firstKeptEntryId: first?.id,
    usage: { input: 5, cost: { total: 0.5 } },
  });
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ cost: 1 });
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  compactionEvents,
  FILLER,
  NEAR_CONTEXT_LIMIT,
  openAfterTwoTurns,
  textWithUsage,
} from '../../support/agent/compaction.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY, newGate, openTestAgent, type TestAgent } from '../../support/agent/test-agent.ts';
import { briefConversation, entryIdOf, getEntries, getLeafId } from '../../support/sessions/session-tree.ts';
import { verifies } from '../../support/verifies.ts';

const files = ({ sessionFiles }: TestAgent) => sessionFiles().map((path) => readFileSync(path, 'utf8'));

const writes = {
  steps: [
    { toolCall: { name: 'read', arguments: { path: 'missing.txt' } } },
    { toolCall: { name: 'write', arguments: { path: 'notes.txt', content: 'x' } } },
  ],
};

verifies(
  'S59 S62',
  'navigate_tree with summarize stores a summary of the old branch at the new leaf',
  async ({ open }) => {
    const { peer } = await open({
      script: [
        { text: 'one' },
        writes,
        { text: 'two' },
        { steps: [{ text: 'Tried notes.' }, { usage: { input: 70, output: 7 } }] },
        { text: 'three', when: '^other' },
      ],
    });
    await peer.run('first');
    await peer.run('second');
    const [one, oldLeaf] = [await entryIdOf(peer, 'one'), await getLeafId(peer)];
    const { tokens } = await peer.ok({ type: 'get_session_stats' });

    const result = await peer.ok({
      type: 'navigate_tree',
      targetId: await entryIdOf(peer, 'second'),
      summarize: true,
      label: 'notes',
    });

    const summary =
      'Tried notes.\n\n<read-files>\nmissing.txt\n</read-files>\n\n<modified-files>\nnotes.txt\n</modified-files>';
    const entries = await getEntries(peer);
    expect(result).toEqual({ cancelled: false, editorText: 'second', summaryEntryId: expect.any(String) });
    expect(entries.slice(-2)).toMatchObject([
      {
        id: result.summaryEntryId,
        type: 'branch_summary',
        parentId: one,
        fromId: oldLeaf,
        summary,
        details: { readFiles: ['missing.txt'], modifiedFiles: ['notes.txt'] },
        usage: { input: 70, output: 7 },
      },
      { type: 'label', targetId: result.summaryEntryId, label: 'notes', parentId: result.summaryEntryId },
    ]);
    expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', `branchSummary: ${summary}`]);
    const now = await peer.ok({ type: 'get_session_stats' });
    expect(now.tokens.total).toBe(tokens.total + 77);
    await peer.run('other');
    expect((await briefConversation(peer)).at(-1)).toBe('assistant: three');
  },
);

verifies('S59', 'only messages that the two branches do not share are summarised', async ({ open }) => {
  const { peer } = await open({
    script: [
      { text: 'one' },
      { text: 'two' },
      { text: 'three' },
      { text: 'fine', when: '^<conversation>\\n\\[User\\]: other\\n\\n\\[Assistant\\]: three\\n</conversation>' },
    ],
  });
  await peer.run('first');
  await peer.run('second');
  const two = await entryIdOf(peer, 'two');
  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second') });
  await peer.run('other');

  await peer.ok({ type: 'navigate_tree', targetId: two, summarize: true });

  expect(await briefConversation(peer)).toEqual([
    'user: first',
    'assistant: one',
    'user: second',
    'assistant: two',
    'branchSummary: fine',
  ]);
});

verifies('S59', 'an abandoned branch without messages gets no summary', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }, { text: 'never' }] });
  await peer.run('first');
  await peer.run('second');
  const two = await entryIdOf(peer, 'two');
  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second') });

  expect(await peer.ok({ type: 'navigate_tree', targetId: two, summarize: true })).toEqual({ cancelled: false });

  expect((await briefConversation(peer)).at(-1)).toBe('assistant: two');
});

verifies('S59', 'customInstructions follow the default instructions or replace them', async ({ open }) => {
  const defaultInstructions = 'Use exactly these sections';
  const { peer } = await open({
    script: [
      { text: 'one' },
      { text: 'two' },
      { text: 'added', when: `${defaultInstructions}[\\s\\S]*Additional focus: the shop$` },
      { text: 'replaced', when: '</conversation>\\n\\nOnly the shop$' },
    ],
  });
  await peer.run('first');
  await peer.run('second');
  const [one, two] = [await entryIdOf(peer, 'one'), await entryIdOf(peer, 'two')];

  await peer.ok({ type: 'navigate_tree', targetId: one, summarize: true, customInstructions: 'the shop' });
  const added = await briefConversation(peer);
  await peer.ok({ type: 'navigate_tree', targetId: two });
  await peer.ok({
    type: 'navigate_tree',
    targetId: one,
    summarize: true,
    customInstructions: 'Only the shop',
    replaceInstructions: true,
  });

  expect(added.at(-1)).toBe('branchSummary: added');
  expect((await briefConversation(peer)).at(-1)).toBe('branchSummary: replaced');
});

verifies('S59', 'a failed branch summary leaves the session unchanged', async ({ open }) => {
  const agent = await open({
    script: [{ text: 'one' }, { text: 'two' }, { error: { status: 400, message: 'no' } }, { text: 'three' }],
    settings: NO_RETRY,
  });
  const { peer } = agent;
  await peer.run('first');
  await peer.run('second');
  const before = [files(agent), await getLeafId(peer)];
  const targetId = await entryIdOf(peer, 'one');

  const refusal = await peer.refused({ type: 'navigate_tree', targetId, summarize: true });

  expect(refusal).toMatchObject({ code: 'internal', error: 'Summarization failed: 400 no' });
  expect([files(agent), await getLeafId(peer)]).toEqual(before);
  await peer.run('third');
  expect((await briefConversation(peer)).slice(-3)).toEqual(['assistant: two', 'user: third', 'assistant: three']);
});

verifies('S59 C17', 'abort overtakes a branch summary and leaves the session unchanged', async ({ open }) => {
  const agent = await open({
    script: [
      { text: 'one' },
      { text: 'two' },
      { steps: [{ text: 'half' }, { stall: true }], when: 'Additional focus: nothing', keep: true },
      { text: 'whole' },
    ],
  });
  const { peer } = agent;
  await peer.run('first');
  await peer.run('second');
  const before = [files(agent), await getLeafId(peer)];
  const targetId = await entryIdOf(peer, 'one');
  peer.send({ id: 'n', type: 'navigate_tree', targetId, summarize: true, customInstructions: 'nothing' });
  await peer.ok({ type: 'get_state' });

  await peer.ok({ type: 'abort' });

  expect(await peer.find(({ id }) => id === 'n')).toMatchObject({ success: true, data: { cancelled: true } });
  expect([files(agent), await getLeafId(peer)]).toEqual(before);
  await peer.ok({ type: 'navigate_tree', targetId, summarize: true });
  expect((await briefConversation(peer)).at(-1)).toBe('branchSummary: whole');
});

verifies('S59 P34', 'abort_and_prompt cancels a branch summary and runs its message', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { stall: true, when: '<conversation>' }, { text: 'two' }] });
  await peer.run('first');
  peer.send({ id: 'n', type: 'navigate_tree', targetId: await entryIdOf(peer, 'first'), summarize: true });
  await peer.ok({ type: 'get_state' });

  await peer.ok({ type: 'abort_and_prompt', message: 'second' });
  await peer.next('agent_settled');

  expect(await peer.find(({ id }) => id === 'n')).toMatchObject({ data: { cancelled: true } });
  await waitUntilSettled(peer);
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', 'user: second', 'assistant: two']);
});

verifies('S59 C19', 'a prompt sent during a branch summary runs at the new leaf', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ text: 'one' }, { text: 'two' }, { steps: [{ await: gate.path }, { text: 'short' }] }, { text: 'three' }],
  });
  await peer.run('first');
  await peer.run('second');
  peer.send({ id: 'n', type: 'navigate_tree', targetId: await entryIdOf(peer, 'one'), summarize: true });
  peer.send({ id: 'p', type: 'prompt', message: 'third' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: false, messageCount: 4 });

  gate.open();
  await peer.find('agent_settled');
  await waitUntilSettled(peer);

  expect(await briefConversation(peer)).toEqual([
    'user: first',
    'assistant: one',
    'branchSummary: short',
    'user: third',
    'assistant: three',
  ]);
});

verifies('S59 C21', 'a bash command during a branch summary is stored on the branch where it ran', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ text: 'one' }, { text: 'two' }, { steps: [{ await: gate.path }, { text: 'short' }] }],
  });
  await peer.run('first');
  await peer.run('second');
  const oldLeaf = await getLeafId(peer);
  peer.send({ id: 'n', type: 'navigate_tree', targetId: await entryIdOf(peer, 'one'), summarize: true });
  await peer.ok({ type: 'bash', command: 'echo meanwhile' });

  gate.open();
  await peer.find(({ id }) => id === 'n');

  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', 'branchSummary: short']);
  const bashEntry = (await getEntries(peer)).find(
    (found) => found.type === 'message' && found.message.role === 'bashExecution',
  );
  expect(bashEntry).toMatchObject({ parentId: oldLeaf });
});

verifies('S60 C19', 'navigate_tree leads from a compaction back to before it and forward again', async ({ open }) => {
  const gate = newGate();
  const { peer } = await openAfterTwoTurns(open, [{ steps: [{ await: gate.path }, { text: 'short' }] }]);
  const whole = await briefConversation(peer);
  const two = await getLeafId(peer);
  peer.send({ id: 'c', type: 'compact' });
  await peer.next('compaction_start');
  peer.send({ id: 'n', type: 'navigate_tree', targetId: two });
  await peer.ok({ type: 'get_state' });

  gate.open();

  expect(await peer.find(({ id }) => id === 'n')).toMatchObject({ success: true, data: { cancelled: false } });
  expect(await briefConversation(peer)).toEqual(whole);
  const compacted = (await getEntries(peer)).find(({ type }) => type === 'compaction');
  await peer.ok({ type: 'navigate_tree', targetId: compacted?.id });
  expect((await briefConversation(peer))[0]).toBe('compactionSummary: short');
  expect(await peer.refused({ type: 'compact' })).toMatchObject({ error: 'Already compacted' });
});

verifies('S60', 'navigate_tree during an automatic compaction is rejected', async ({ open }) => {
  const gate = newGate();
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT),
    { steps: [{ await: gate.path }, { text: 'short' }], when: '<conversation>' },
  ]);
  const targetId = await getLeafId(peer);
  await peer.ok({ type: 'prompt', message: `third ${FILLER}` });
  await peer.next('compaction_start');

  const refusal = await peer.refused({ type: 'navigate_tree', targetId });

  expect(refusal).toMatchObject({ code: 'agent_busy' });
  gate.open();
  await peer.next('agent_settled');
  expect(compactionEvents(peer.records).at(-1)).toMatchObject({ result: { summary: 'short' } });
});

verifies('S59 K1', 'a later compaction includes the branch summary', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    { text: 'the branch' },
    textWithUsage('three', 300),
    { text: 'all of it', when: 'the branch' },
  ]);
  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'one'), summarize: true });
  await peer.run(`third ${FILLER}`);

  await peer.ok({ type: 'compact' });

  expect((await briefConversation(peer))[0]).toBe('compactionSummary: all of it');
});

it('[S59 S61] a session killed during a branch summary reopens unchanged, and after it at the new leaf', async () => {
  const first = await openTestAgent('stdio', { script: [{ text: 'one' }, { text: 'two' }, { stall: true }] });
  await first.peer.run('first');
  await first.peer.run('second');
  const targetId = await entryIdOf(first.peer, 'one');
  const before = [files(first), await getLeafId(first.peer)];
  first.peer.send({ type: 'navigate_tree', targetId, summarize: true });
  await first.peer.ok({ type: 'get_state' });
  first.process?.kill('SIGKILL');
  await first.process?.exited;

  const again = await openTestAgent('stdio', { home: first.home, args: ['--continue'], script: [{ text: 'short' }] });
  expect([files(again), await getLeafId(again.peer)]).toEqual(before);
  const { summaryEntryId } = await again.peer.ok({ type: 'navigate_tree', targetId, summarize: true });
  again.process?.kill('SIGKILL');
  await again.process?.exited;

  const last = await openTestAgent('stdio', { home: first.home, args: ['--continue'] });
  expect(await getLeafId(last.peer)).toBe(summaryEntryId);
  expect(await briefConversation(last.peer)).toEqual(['user: first', 'assistant: one', 'branchSummary: short']);
});

it('[S59 Z28] a branch summary running at end of input finishes and gets its response', async () => {
  const gate = newGate();
  const agent = await openTestAgent('stdio', {
    script: [{ text: 'one' }, { steps: [{ await: gate.path }, { text: 'short' }] }],
  });
  await agent.peer.run('first');
  agent.peer.send({ id: 'n', type: 'navigate_tree', targetId: await entryIdOf(agent.peer, 'first'), summarize: true });
  await agent.peer.ok({ type: 'get_state' });

  agent.process?.endInput();
  gate.open();

  expect(await agent.process?.exited).toEqual({ code: 0, signal: null });
  expect(await agent.peer.find(({ id }) => id === 'n')).toMatchObject({ success: true, data: { cancelled: false } });
});

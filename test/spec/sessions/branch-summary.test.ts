import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compactionEvents, textWithUsage, FILLER, NEAR_CONTEXT_LIMIT, openAfterTwoTurns } from '../../support/agent/compaction.ts';
import { NO_RETRY, newGate, openTestAgent, type TestAgent } from '../../support/agent/test-agent.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { briefConversation, getEntries, entryIdOf, getLeafId } from '../../support/sessions/session-tree.ts';
import { verifies } from '../../support/verifies.ts';

const files = ({ sessionFiles }: TestAgent) => sessionFiles().map((path) => readFileSync(path, 'utf8'));

const writes = {
  steps: [
    { toolCall: { name: 'read', arguments: { path: 'missing.txt' } } },
    { toolCall: { name: 'write', arguments: { path: 'notes.txt', content: 'x' } } },
  ],
};

verifies('S59', 'what is left behind is summed up where the conversation goes on', async ({ open }) => {
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
  const [one, left] = [await entryIdOf(peer, 'one'), await getLeafId(peer)];
  const { tokens } = await peer.ok({ type: 'get_session_stats' });

  const answer = await peer.ok({
    type: 'navigate_tree',
    targetId: await entryIdOf(peer, 'second'),
    summarize: true,
    label: 'notes',
  });

  const summary =
    'Tried notes.\n\n<read-files>\nmissing.txt\n</read-files>\n\n<modified-files>\nnotes.txt\n</modified-files>';
  const entries = await getEntries(peer);
  expect(answer).toEqual({ cancelled: false, editorText: 'second', summaryEntryId: expect.any(String) });
  expect(entries.slice(-2)).toMatchObject([
    {
      id: answer.summaryEntryId,
      type: 'branch_summary',
      parentId: one,
      fromId: left,
      summary,
      details: { readFiles: ['missing.txt'], modifiedFiles: ['notes.txt'] },
      usage: { input: 70, output: 7 },
    },
    { type: 'label', targetId: answer.summaryEntryId, label: 'notes', parentId: answer.summaryEntryId },
  ]);
  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', `branchSummary: ${summary}`]);
  const now = await peer.ok({ type: 'get_session_stats' });
  expect(now.tokens.total).toBe(tokens.total + 77);
  await peer.run('other');
  expect((await briefConversation(peer)).at(-1)).toBe('assistant: three');
});

verifies('S59', 'only what the way there does not share is summed up', async ({ open }) => {
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

verifies('S59', 'where nothing was said nothing is summed up', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }, { text: 'never' }] });
  await peer.run('first');
  await peer.run('second');
  const two = await entryIdOf(peer, 'two');
  await peer.ok({ type: 'navigate_tree', targetId: await entryIdOf(peer, 'second') });

  expect(await peer.ok({ type: 'navigate_tree', targetId: two, summarize: true })).toEqual({ cancelled: false });

  expect((await briefConversation(peer)).at(-1)).toBe('assistant: two');
});

verifies('S59', 'instructions follow the usual ones, or stand for them', async ({ open }) => {
  const usual = 'Use exactly these sections';
  const { peer } = await open({
    script: [
      { text: 'one' },
      { text: 'two' },
      { text: 'added', when: `${usual}[\\s\\S]*Additional focus: the shop$` },
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

verifies('S59', 'a summary that fails leaves everything as it was', async ({ open }) => {
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

verifies('S59 C17', 'abort overtakes a summary, and everything stays as it was', async ({ open }) => {
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

verifies('S59 P34', 'abort_and_prompt stops a summary for its message', async ({ open }) => {
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

verifies('S59 C19', 'a prompt that comes during a summary is served where it led', async ({ open }) => {
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

verifies('S59 C21', 'what a command prints during a summary stays where it was run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ text: 'one' }, { text: 'two' }, { steps: [{ await: gate.path }, { text: 'short' }] }],
  });
  await peer.run('first');
  await peer.run('second');
  const left = await getLeafId(peer);
  peer.send({ id: 'n', type: 'navigate_tree', targetId: await entryIdOf(peer, 'one'), summarize: true });
  await peer.ok({ type: 'bash', command: 'echo meanwhile' });

  gate.open();
  await peer.find(({ id }) => id === 'n');

  expect(await briefConversation(peer)).toEqual(['user: first', 'assistant: one', 'branchSummary: short']);
  const ran = (await getEntries(peer)).find(
    (found) => found.type === 'message' && found.message.role === 'bashExecution',
  );
  expect(ran).toMatchObject({ parentId: left });
});

verifies('S60 C19', 'after a compaction it leads to before it, and back', async ({ open }) => {
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

verifies('S60', 'during an automatic compaction it is refused', async ({ open }) => {
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

verifies('S59 K1', 'a compaction after it takes up the summary of the branch', async ({ open }) => {
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

it('[S59 S61] killed during a summary, the session opens as it was; killed after it, where it led', async () => {
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

it('[S59 Z28] a summary that is under way at the end of input is finished and answered', async () => {
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

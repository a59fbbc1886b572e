import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  compactionEvents,
  FILLER,
  fastRetryHome,
  milestones,
  openAfterTwoTurns,
  textWithUsage,
} from '../../support/agent/compaction.ts';
import { rolesOf } from '../../support/agent/hooked-agent.ts';
import { readSessionFile } from '../../support/agent/test-agent.ts';
import { usage } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const noFiles = { readFiles: [], modifiedFiles: [] };

verifies('K1 K3 K4 K5 K8 K9 K12', 'compact replaces old messages with a summary', async ({ open }) => {
  const { peer, sessionFiles } = await openAfterTwoTurns(open, [textWithUsage('what was said', 300, 7)]);
  const { entries } = await peer.ok({ type: 'get_entries' });
  const [, , , , second] = entries;
  const start = peer.records.length;

  const result = await peer.ok({ type: 'compact' });

  expect(second).toMatchObject({ type: 'message', message: { role: 'user' } });
  expect(result).toEqual({
    summary: 'what was said',
    firstKeptEntryId: second.id,
    tokensBefore: 210,
    // Four characters per token: the summary, the user message, the assistant message.
    estimatedTokensAfter: 4 + 77 + 1,
    details: noFiles,
    usage: usage(300, 7),
  });
  expect(peer.records.slice(start)).toMatchObject([
    { type: 'compaction_start', reason: 'manual' },
    { type: 'compaction_end', reason: 'manual', result, aborted: false, willRetry: false },
    { type: 'response', command: 'compact' },
  ]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toMatchObject([
    { role: 'compactionSummary', summary: 'what was said', tokensBefore: 210 },
    { role: 'user', content: [{ text: `second ${FILLER}` }] },
    { role: 'assistant', content: [{ text: 'two' }] },
  ]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 3, isCompacting: false });
  const [path = ''] = sessionFiles();
  const { estimatedTokensAfter: _estimate, ...kept } = result;
  expect(readSessionFile(path).at(-1)).toMatchObject({ type: 'compaction', ...kept });
});

verifies('K1', 'the model gets the summary instead of the messages it replaces', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    { text: 'the gist' },
    { steps: [{ text: 'on it' }, { usage: { input: 50, output: 5 } }] },
  ]);
  await peer.ok({ type: 'compact' });

  await peer.run('and now?');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['compactionSummary', 'user', 'assistant', 'user', 'assistant']);
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'on it' });
});

verifies('G29 G24', 'the usage of a summary counts, and context usage is unknown after it', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [textWithUsage('short', 1000, 40), textWithUsage('three', 90)]);
  await peer.ok({ type: 'compact' });

  const after = await peer.ok({ type: 'get_session_stats' });
  await peer.run('next');
  const later = await peer.ok({ type: 'get_session_stats' });

  expect(after.contextUsage).toEqual({ tokens: null, contextWindow: 200_000, percent: null });
  expect(after.tokens).toMatchObject({ input: 100 + 200 + 1000, output: 10 + 10 + 40 });
  expect(after).toMatchObject({ userMessages: 2, assistantMessages: 2, totalMessages: 4 });
  expect(later.contextUsage).toMatchObject({ tokens: 100, percent: 0.05 });
  expect(later.tokens).toMatchObject({ input: 1390, output: 70 });
});

verifies('K2', 'customInstructions are part of the summary request', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ text: 'about colours', when: 'Additional focus: the colours$' }]);

  expect(await peer.ok({ type: 'compact', customInstructions: 'the colours' })).toMatchObject({
    summary: 'about colours',
  });
});

verifies('K1', 'the summary request contains the replaced messages and none of the kept ones', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    { text: 'too much', when: '\\[User\\]: second' },
    { text: 'right', when: '<conversation>\\n\\[User\\]: first [\\s\\S]*\\[Assistant\\]: one\\n</conversation>' },
  ]);

  expect(await peer.ok({ type: 'compact' })).toMatchObject({ summary: 'right' });
});

verifies('K1 K15', 'a session that was just compacted cannot be compacted again', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ text: 'short' }]);
  await peer.ok({ type: 'compact' });

  const response = await peer.refused({ type: 'compact' });

  expect(response).toMatchObject({ code: 'not_found', error: 'Already compacted' });
  expect(compactionEvents(peer.records).slice(-2)).toEqual([
    { type: 'compaction_start', reason: 'manual' },
    {
      type: 'compaction_end',
      reason: 'manual',
      result: null,
      aborted: false,
      willRetry: false,
      errorMessage: 'Compaction failed: Already compacted',
    },
  ]);
});

verifies('K1 K15', 'a session that is too small is not compacted', async ({ open }) => {
  const { peer } = await open({ home: fastRetryHome(), script: [{ text: 'one' }] });

  const empty = await peer.refused({ type: 'compact' });
  await peer.run('hello');
  const small = await peer.refused({ type: 'compact' });

  const refusal = { code: 'not_found', error: 'Nothing to compact (session too small)' };
  expect([empty, small]).toMatchObject([refusal, refusal]);
});

verifies('K8 K15', 'a failed summary changes nothing', async ({ open }) => {
  const refusal = { error: { status: 400, message: 'No' } };
  const { peer, sessionFiles } = await openAfterTwoTurns(open, [refusal, { text: '' }, { text: 'fine' }]);
  const before = sessionFiles().map(readSessionFile);

  const refused = await peer.refused({ type: 'compact' });
  const empty = await peer.refused({ type: 'compact' });

  expect(refused).toMatchObject({ code: 'internal', error: 'Summarization failed: 400 No' });
  expect(empty).toMatchObject({ code: 'internal', error: 'Summarization failed: The model wrote nothing' });
  expect(compactionEvents(peer.records).at(-1)).toMatchObject({
    result: null,
    aborted: false,
    errorMessage: 'Compaction failed: Summarization failed: The model wrote nothing',
  });
  expect(sessionFiles().map(readSessionFile)).toEqual(before);
  expect((await peer.run('go on')).at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('K1 Y1 Y2', 'a summary is retried after a transient error unless retries are off', async ({ open }) => {
  const busy = { error: { status: 529 } };
  const { peer } = await openAfterTwoTurns(open, [
    busy,
    busy,
    { text: 'third time' },
    textWithUsage('three', 300),
    busy,
  ]);

  expect(await peer.ok({ type: 'compact' })).toMatchObject({ summary: 'third time' });

  await peer.ok({ type: 'set_auto_retry', enabled: false });
  await peer.run(`third ${FILLER}`);
  expect(await peer.refused({ type: 'compact' })).toMatchObject({ error: 'Summarization failed: 529 Overloaded' });
});

verifies(
  'K1 K3',
  'the next summary includes the previous one and none of the messages which that one replaced',
  async ({ open }) => {
    const { peer } = await openAfterTwoTurns(open, [
      { text: 'alpha' },
      textWithUsage('three', 300),
      { text: 'wrong', when: '\\[User\\]: first' },
      { text: 'beta', when: '\\[User\\]: second [\\s\\S]*<previous-summary>\\nalpha\\n</previous-summary>' },
    ]);
    await peer.ok({ type: 'compact' });
    await peer.run(`third ${FILLER}`);

    expect(await peer.ok({ type: 'compact' })).toMatchObject({ summary: 'beta' });

    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages).toMatchObject([
      { role: 'compactionSummary', summary: 'beta' },
      { role: 'user', content: [{ text: `third ${FILLER}` }] },
      { role: 'assistant' },
    ]);
  },
);

const toolCallStep = (name: string, args: object) => ({ toolCall: { name, arguments: args } });

verifies('K3', 'the lists of read and modified files are carried over successive summaries', async ({ open }) => {
  const home = fastRetryHome();
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(home.cwd, name), 'text');
  const { peer } = await open({
    home,
    script: [
      { steps: [toolCallStep('read', { path: 'b.txt' }), toolCallStep('read', { path: 'a.txt' })] },
      {
        steps: [
          toolCallStep('write', { path: 'a.txt', content: 'new' }),
          toolCallStep('write', { path: 'c.txt', content: 'c' }),
        ],
      },
      { text: 'done' },
      { text: 'two' },
      { text: 'alpha' },
      { steps: [toolCallStep('edit', { path: 'b.txt', oldText: 'text', newText: 'more' })] },
      { text: 'done' },
      { text: 'four' },
      { text: 'beta', when: '<previous-summary>\\nalpha\\n</previous-summary>' },
    ],
  });
  await peer.run('look around');
  await peer.run(FILLER);
  const first = await peer.ok({ type: 'compact' });
  await peer.run('change it');
  await peer.run(FILLER);
  const second = await peer.ok({ type: 'compact' });

  expect(first).toMatchObject({
    summary: 'alpha\n\n<read-files>\nb.txt\n</read-files>\n\n<modified-files>\na.txt\nc.txt\n</modified-files>',
    details: { readFiles: ['b.txt'], modifiedFiles: ['a.txt', 'c.txt'] },
  });
  expect(second).toMatchObject({
    summary: 'beta\n\n<modified-files>\na.txt\nb.txt\nc.txt\n</modified-files>',
    details: { readFiles: [], modifiedFiles: ['a.txt', 'b.txt', 'c.txt'] },
  });
});

verifies('K1 K3', 'a turn split by a compaction gets a summary of its first part', async ({ open }) => {
  const { peer } = await open({
    home: fastRetryHome(),
    script: [
      { text: 'one' },
      { steps: [{ text: 'looking' }, toolCallStep('bash', { command: 'echo found' })] },
      { text: FILLER },
      {
        steps: [{ text: 'the begun' }, { usage: { input: 5, output: 6 } }],
        when: '\\[User\\]: second[\\s\\S]*\\[Tool result\\]: found',
      },
      {
        steps: [{ text: 'the past' }, { usage: { input: 3, output: 4 } }],
        when: '\\[Assistant\\]: one\\n</conversation>',
      },
    ],
  });
  await peer.run('first');
  await peer.run('second');

  const result = await peer.ok({ type: 'compact' });

  expect(result).toMatchObject({
    summary: 'the past\n\n---\n\n**Turn Context (split turn):**\n\nthe begun',
    usage: { input: 8, output: 10, totalTokens: 18 },
  });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['compactionSummary', 'assistant']);
});

verifies('K15', 'a compaction fails when the first part of a split turn cannot be summarised', async ({ open }) => {
  const { peer } = await open({
    home: fastRetryHome(),
    script: [
      { text: 'one' },
      { text: FILLER },
      { error: { status: 400, message: 'No' }, when: '\\[User\\]: second' },
      { stall: true },
    ],
  });
  await peer.run('first');
  await peer.run('second');

  expect(await peer.refused({ type: 'compact' })).toMatchObject({
    error: 'Turn prefix summarization failed: 400 No',
  });
});

verifies('K1', 'compact aborts the run first', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ steps: [{ text: 'half ' }, { stall: true }] }, { text: 'short' }]);
  await peer.ok({ type: 'prompt', message: `third ${FILLER}` });
  await peer.next('message_update');
  const start = peer.records.length;

  await peer.ok({ type: 'compact' });

  const records = peer.records.slice(start);
  expect(milestones(records)).toEqual(['turn_end', 'agent_end', 'agent_settled', 'compaction_start', 'compaction_end']);
  expect(records.find(({ type }) => type === 'agent_settled')).toMatchObject({ aborted: true });
});

import { expect, it } from 'vitest';
import type { AgentClient } from '../../../src/index.ts';
import { type Hooks, neverReturns, openWithHooks } from '../../support/agent/hooked-agent.ts';
import { briefs } from '../../support/sessions/session-tree.ts';

/** Opens an agent with these hooks after two turns. */
async function openAfterTwoTurns(hooks: Hooks, answers: readonly object[] = []) {
  const agent = await openWithHooks(hooks, { answers: [{ text: 'one' }, { text: 'two' }, ...answers] });
  const { client } = agent;
  await client.promptAndWait('first');
  await client.promptAndWait('second');
  const { entries, leafId } = await client.getEntries();
  const idOf = (text: string) => entries.find((entry) => JSON.stringify(entry).includes(`"${text}"`))?.id ?? '';
  return { client, entries, leafId, idOf };
}

const conversation = async (client: AgentClient) => briefs((await client.getMessages()).messages);

it('beforeTree gets the planned navigation, and afterTree its result', async () => {
  const received: unknown[] = [];
  const { client, entries, leafId, idOf } = await openAfterTwoTurns({
    beforeTree: async (plan) => void received.push(plan),
    afterTree: async (move) => void received.push(move),
  });
  const [target, ancestor] = [idOf('second'), idOf('second')];
  const left = entries.slice(entries.findIndex(({ id }) => id === target) + 1);

  await client.navigateTree({ targetId: target, customInstructions: 'a', replaceInstructions: true, label: '' });
  const one = (await client.getEntries()).leafId;

  expect(one).toBe(idOf('one'));
  expect(received).toEqual([
    {
      targetId: target,
      oldLeafId: leafId,
      commonAncestorId: ancestor,
      entriesToSummarize: left,
      userWantsSummary: false,
      customInstructions: 'a',
      replaceInstructions: true,
      label: '',
    },
    { newLeafId: one, oldLeafId: leafId, summaryEntry: undefined, fromHook: false },
  ]);
});

it('beforeTree can cancel the navigation', async () => {
  const received: unknown[] = [];
  const { client, leafId, idOf } = await openAfterTwoTurns({
    beforeTree: async () => ({ cancel: true }),
    afterTree: async (move) => void received.push(move),
  });

  expect(await client.navigateTree({ targetId: idOf('one'), summarize: true })).toEqual({ cancelled: true });

  expect((await client.getEntries()).leafId).toBe(leafId);
  expect(received).toEqual([]);
});

it('a summary from a hook replaces the one of the model', async () => {
  const moves: unknown[] = [];
  const { client, leafId, idOf } = await openAfterTwoTurns(
    {
      beforeTree: async () => ({ summary: 'in short', details: { by: 'me' }, label: 'mine' }),
      afterTree: async (move) => void moves.push(move),
    },
    [{ text: 'never' }],
  );

  const { summaryEntryId } = await client.navigateTree({ targetId: idOf('one'), summarize: true, label: 'theirs' });

  const { entries } = await client.getEntries();
  const summaryEntry = entries.find(({ id }) => id === summaryEntryId);
  expect(summaryEntry).toMatchObject({
    type: 'branch_summary',
    fromId: leafId,
    summary: 'in short',
    details: { by: 'me' },
    fromHook: true,
  });
  expect(entries.at(-1)).toMatchObject({ type: 'label', targetId: summaryEntryId, label: 'mine' });
  expect(moves).toEqual([{ newLeafId: entries.at(-1)?.id, oldLeafId: leafId, summaryEntry, fromHook: true }]);
  expect((await conversation(client)).at(-1)).toBe('branchSummary: in short');
});

it('a hook summary is ignored unless summarize was set', async () => {
  const { client, idOf } = await openAfterTwoTurns({ beforeTree: async () => ({ summary: 'in short' }) });

  expect(await client.navigateTree({ targetId: idOf('one') })).toEqual({ cancelled: false });

  expect(await conversation(client)).toEqual(['user: first', 'assistant: one']);
});

it('instructions from a hook replace those of the command', async () => {
  const { client, idOf } = await openAfterTwoTurns(
    { beforeTree: async () => ({ customInstructions: 'Only names', replaceInstructions: true }) },
    [{ text: 'names', when: '</conversation>\\n\\nOnly names$' }],
  );

  await client.navigateTree({ targetId: idOf('one'), summarize: true, customInstructions: 'everything' });

  expect((await conversation(client)).at(-1)).toBe('branchSummary: names');
});

it('a beforeTree that rejects fails the command; an afterTree that rejects changes nothing', async () => {
  let isReady = false;
  const { client, leafId, idOf } = await openAfterTwoTurns({
    beforeTree: async () => {
      if (!isReady) throw new Error('not now');
      return undefined;
    },
    afterTree: () => Promise.reject(new Error('too late')),
  });
  const targetId = idOf('one');

  await expect(client.navigateTree({ targetId })).rejects.toMatchObject({ code: 'internal', message: 'not now' });
  const before = (await client.getEntries()).leafId;
  isReady = true;
  await client.navigateTree({ targetId });

  expect(before).toBe(leafId);
  expect((await client.getEntries()).leafId).toBe(targetId);
});

it.each(['beforeTree', 'afterTree'] as const)('a %s that never returns does not delay an abort', async (name) => {
  const { called, wait } = neverReturns();
  const { client, leafId, idOf } = await openAfterTwoTurns({ [name]: wait }, [{ text: 'three' }]);
  const navigation = client.navigateTree({ targetId: idOf('one') });
  await called;

  await client.abort();

  const isCancelled = name === 'beforeTree';
  expect(await navigation).toEqual({ cancelled: isCancelled });
  expect((await client.getEntries()).leafId).toBe(isCancelled ? leafId : idOf('one'));
  expect((await client.promptAndWait('third')).settled).toMatchObject({ outcome: 'ok' });
});

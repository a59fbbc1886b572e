import { expect, it } from 'vitest';
import type { AgentClient } from '../../../src/index.ts';
import { type Hooks, openWithHooks, neverReturns } from '../../support/agent/hooked-agent.ts';
import { briefs } from '../../support/sessions/session-tree.ts';

/** An agent with these hooks that has talked twice. */
async function talked(hooks: Hooks, answers: readonly object[] = []) {
  const agent = await openWithHooks(hooks, { answers: [{ text: 'one' }, { text: 'two' }, ...answers] });
  const { client } = agent;
  await client.promptAndWait('first');
  await client.promptAndWait('second');
  const { entries, leafId } = await client.getEntries();
  const idOf = (words: string) => entries.find((entry) => JSON.stringify(entry).includes(`"${words}"`))?.id ?? '';
  return { client, entries, leafId, idOf };
}

const conversation = async (client: AgentClient) => briefs((await client.getMessages()).messages);

it('beforeTree is told where the way leads and what was asked for, afterTree where it led', async () => {
  const told: unknown[] = [];
  const { client, entries, leafId, idOf } = await talked({
    beforeTree: async (plan) => void told.push(plan),
    afterTree: async (move) => void told.push(move),
  });
  const [target, ancestor] = [idOf('second'), idOf('second')];
  const left = entries.slice(entries.findIndex(({ id }) => id === target) + 1);

  await client.navigateTree({ targetId: target, customInstructions: 'a', replaceInstructions: true, label: '' });
  const one = (await client.getEntries()).leafId;

  expect(one).toBe(idOf('one'));
  expect(told).toEqual([
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

it('beforeTree may cancel', async () => {
  const told: unknown[] = [];
  const { client, leafId, idOf } = await talked({
    beforeTree: async () => ({ cancel: true }),
    afterTree: async (move) => void told.push(move),
  });

  expect(await client.navigateTree({ targetId: idOf('one'), summarize: true })).toEqual({ cancelled: true });

  expect((await client.getEntries()).leafId).toBe(leafId);
  expect(told).toEqual([]);
});

it('a summary of a hook takes the place of the one a model would write', async () => {
  const moves: unknown[] = [];
  const { client, leafId, idOf } = await talked(
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

it('nobody gets a summary who did not ask for one', async () => {
  const { client, idOf } = await talked({ beforeTree: async () => ({ summary: 'in short' }) });

  expect(await client.navigateTree({ targetId: idOf('one') })).toEqual({ cancelled: false });

  expect(await conversation(client)).toEqual(['user: first', 'assistant: one']);
});

it('instructions of a hook take the place of those that were given', async () => {
  const { client, idOf } = await talked(
    { beforeTree: async () => ({ customInstructions: 'Only names', replaceInstructions: true }) },
    [{ text: 'names', when: '</conversation>\\n\\nOnly names$' }],
  );

  await client.navigateTree({ targetId: idOf('one'), summarize: true, customInstructions: 'everything' });

  expect((await conversation(client)).at(-1)).toBe('branchSummary: names');
});

it('a beforeTree that rejects fails the command, an afterTree that rejects changes nothing', async () => {
  let isCalm = false;
  const { client, leafId, idOf } = await talked({
    beforeTree: async () => {
      if (!isCalm) throw new Error('not now');
      return undefined;
    },
    afterTree: () => Promise.reject(new Error('too late')),
  });
  const targetId = idOf('one');

  await expect(client.navigateTree({ targetId })).rejects.toMatchObject({ code: 'internal', message: 'not now' });
  const before = (await client.getEntries()).leafId;
  isCalm = true;
  await client.navigateTree({ targetId });

  expect(before).toBe(leafId);
  expect((await client.getEntries()).leafId).toBe(targetId);
});

it.each(['beforeTree', 'afterTree'] as const)('a %s that never comes back keeps no abort waiting', async (name) => {
  const { called, wait } = neverReturns();
  const { client, leafId, idOf } = await talked({ [name]: wait }, [{ text: 'three' }]);
  const gone = client.navigateTree({ targetId: idOf('one') });
  await called;

  await client.abort();

  const isCancelled = name === 'beforeTree';
  expect(await gone).toEqual({ cancelled: isCancelled });
  expect((await client.getEntries()).leafId).toBe(isCancelled ? leafId : idOf('one'));
  expect((await client.promptAndWait('third')).settled).toMatchObject({ outcome: 'ok' });
});

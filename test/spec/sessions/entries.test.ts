import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import {
  assistantEntry,
  entry,
  header,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

verifies('S31', 'get_entries returns the entries of the file in order', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }] });
  await peer.run('first');
  await peer.ok({ type: 'set_session_name', name: 'shop' });

  const { entries, leafId } = await peer.ok({ type: 'get_entries' });

  const { sessionFile } = await peer.ok({ type: 'get_state' });
  expect(entries).toEqual(readSessionFile(sessionFile).slice(1));
  expect(leafId).toBe(entries.at(-1).id);
  expect(entries.map(({ type }: { type: string }) => type)).toEqual([
    'model_change',
    'thinking_level_change',
    'message',
    'message',
    'session_info',
  ]);
});

verifies('S31', 'get_entries returns the entries of every branch', async ({ open }) => {
  const home = newHome();
  const lines = [
    ...shortConversation(home.cwd),
    userEntry('cccccccc', null, 'again'),
    userEntry('dddddddd', 'aaaaaaaa', 'back'),
  ];
  const { peer } = await open({ home, args: ['--session', storeSession(home, lines)] });

  const { entries, leafId } = await peer.ok({ type: 'get_entries' });

  expect(entries).toEqual(lines.slice(1));
  expect(leafId).toBe('dddddddd');
});

verifies('S31 S32', 'get_entries pages with since and limit', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({
    home,
    args: ['--session', storeSession(home, shortConversation(home.cwd))],
    script: [{ text: 'two' }],
  });
  await peer.run('second');
  const { entries: all, leafId } = await peer.ok({ type: 'get_entries' });
  const [a, b, c, d] = all;

  const pages = [
    await peer.ok({ type: 'get_entries', limit: 3 }),
    await peer.ok({ type: 'get_entries', since: c.id, limit: 3 }),
    await peer.ok({ type: 'get_entries', since: a.id, limit: 1 }),
    await peer.ok({ type: 'get_entries', since: d.id }),
    await peer.ok({ type: 'get_entries', limit: 4 }),
    await peer.ok({ type: 'get_entries', limit: 0 }),
  ];

  expect(all).toHaveLength(4);
  expect(pages).toEqual([
    { entries: [a, b, c], leafId, hasMore: true },
    { entries: [d], leafId },
    { entries: [b], leafId, hasMore: true },
    { entries: [], leafId },
    { entries: all, leafId },
    { entries: [], leafId, hasMore: true },
  ]);
});

verifies('S33', 'get_entries since an unknown entry is rejected', async ({ open }) => {
  const { peer } = await open();
  const { sessionId } = await peer.ok({ type: 'get_state' });

  for (const since of ['ffffffff', sessionId, '../x']) {
    expect(await peer.refused({ type: 'get_entries', since })).toMatchObject({ code: 'not_found' });
  }
  for (const wrong of [{ since: '' }, { since: null }, { limit: -1 }, { limit: 1.5 }, { limit: '3' }]) {
    expect(await peer.refused({ type: 'get_entries', ...wrong })).toMatchObject({ code: 'invalid_params' });
  }
});

verifies('S31 S34', 'a fork without messages has the entries that name its model', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({ home, args: ['--session', storeSession(home, shortConversation(home.cwd))] });
  const [first] = (await peer.ok({ type: 'get_fork_messages' })).messages;

  await peer.ok({ type: 'fork', entryId: first.entryId });

  const { leafId, entries } = await peer.ok({ type: 'get_entries' });
  const { tree } = await peer.ok({ type: 'get_tree' });
  expect(entries.map(({ type }: { type: string }) => type)).toEqual(['model_change', 'thinking_level_change']);
  expect(leafId).toBe(entries[1].id);
  expect(tree).toEqual([{ entry: entries[0], children: [{ entry: entries[1], children: [] }] }]);
});

verifies('S34', 'get_tree returns branches, labels and the leaf', async ({ open }) => {
  const home = newHome();
  const later = { timestamp: '2026-03-01T00:00:00.000Z' };
  const [top, question, reply] = shortConversation(home.cwd) as [object, object, object];
  const again = { ...userEntry('cccccccc', 'bbbbbbbb', 'again'), ...later };
  const instead = userEntry('dddddddd', 'bbbbbbbb', 'instead');
  const root = { ...userEntry('eeeeeeee', null, 'anew'), ...later };
  const orphan = userEntry('99999999', 'missing0', 'orphan');
  const label = entry('label', '11111111', 'dddddddd', { targetId: 'bbbbbbbb', label: 'good', ...later });
  const labelChanges = [
    entry('label', '22222222', '11111111', { targetId: 'cccccccc', label: 'bad' }),
    entry('label', '33333333', '22222222', { targetId: 'cccccccc' }),
  ];
  const lines = [top, question, reply, again, instead, root, orphan, label, ...labelChanges];
  const { peer } = await open({ home, args: ['--session', storeSession(home, lines)] });

  const result = await peer.ok({ type: 'get_tree' });

  const labels = {
    entry: label,
    children: [{ entry: labelChanges[0], children: [{ entry: labelChanges[1], children: [] }] }],
  };
  const branches = [
    { entry: instead, children: [labels] },
    { entry: again, children: [] },
  ];
  expect(result).toEqual({
    tree: [
      {
        entry: question,
        children: [{ entry: reply, children: branches, label: 'good', labelTimestamp: later.timestamp }],
      },
      { entry: orphan, children: [] },
      { entry: root, children: [] },
    ],
    leafId: '33333333',
  });
});

interface Node {
  entry: { id: string };
  children: Node[];
}

/** The ids of all entries of a tree of any depth. */
function idsIn(tree: readonly Node[]): string[] {
  const nodes = [...tree];
  for (let at = 0; at < nodes.length; at++) nodes.push(...(nodes[at]?.children ?? []));
  return nodes.map(({ entry: { id } }) => id);
}

verifies('S34', 'entries with cyclic parents are all in the tree', async ({ open }) => {
  const home = newHome();
  const lines = [
    ...shortConversation(home.cwd),
    userEntry('cccccccc', 'dddddddd', 'round'),
    userEntry('dddddddd', 'cccccccc', 'and round'),
    userEntry('eeeeeeee', 'eeeeeeee', 'itself'),
  ];
  const { peer } = await open({ home, args: ['--session', storeSession(home, lines)] });

  const { tree } = await peer.ok({ type: 'get_tree' });

  expect(idsIn(tree).sort()).toEqual(['aaaaaaaa', 'bbbbbbbb', 'cccccccc', 'dddddddd', 'eeeeeeee']);
});

verifies('S34', 'get_tree returns a conversation of ten thousand entries', async ({ open }) => {
  const home = newHome();
  const id = (index: number) => index.toString(16).padStart(8, '0');
  const lines = Array.from({ length: 10_000 }, (_, index) =>
    assistantEntry(id(index), index === 0 ? null : id(index - 1), 'x'),
  );
  const { peer } = await open({
    home,
    hasForeignFields: true,
    args: ['--session', storeSession(home, [header(home.cwd), ...lines])],
  });

  const { data } = await peer.request({ type: 'get_tree' });

  const { tree, leafId } = data as { tree: Node[]; leafId: string };
  expect(leafId).toBe(id(9_999));
  expect(idsIn(tree)).toEqual(lines.map((line) => line.id));
});

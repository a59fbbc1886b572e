import { expect } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import {
  assistantEntry,
  header,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const malformed = [
  { role: 'user' },
  { role: 'toolResult', toolCallId: 'c', toolName: 'x', isError: false },
  { role: 'assistant', content: null },
  { role: 'assistant', content: [null, 5, 'x'] },
  { role: 'bashExecution' },
  { role: 7 },
  null,
];

verifies('J26', 'a session with malformed messages opens and runs', async ({ open }) => {
  const home = newHome();
  const entry = (message: unknown, index: number) => ({
    type: 'message',
    id: `b000000${index}`,
    parentId: index === 0 ? 'a0000001' : `b000000${index - 1}`,
    timestamp: '2026-01-01T00:00:00.000Z',
    message,
  });
  const path = storeSession(home, [header(home.cwd), userEntry('a0000001', null, 'first'), ...malformed.map(entry)]);
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'fine' }], hasForeignFields: true });

  const records = await peer.run('second');

  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.filter(({ content }: { content?: unknown[] }) => content?.length)).toHaveLength(3);
});

verifies('J28', 'usage without a cost or with odd counts does not affect the statistics', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [
    header(home.cwd),
    userEntry('a0000001', null, 'first'),
    assistantEntry('a0000002', 'a0000001', 'one', { usage: { input: 7, output: 3, cacheRead: 0, cacheWrite: 0 } }),
    assistantEntry('a0000003', 'a0000002', 'two', { usage: { input: 'many', cost: { total: null } } }),
  ]);
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'fine' }], hasForeignFields: true });

  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ tokens: { input: 7, total: 10 }, cost: 0 });
  expect((await peer.run('second')).at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

verifies('J28', 'a NUL in the folder of a session does not keep it from being opened', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation('/no\0where'));
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'fine' }] });

  expect((await peer.run('second')).at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import {
  assistantEntry,
  assistantMessage,
  entry,
  header,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

verifies('G17 G18', 'get_messages returns every message as it was sent and stored', async ({ open }) => {
  const call = { name: 'bash', id: 'call_1', arguments: { command: 'echo hi' } };
  const { peer } = await open({ script: [{ steps: [{ text: 'Look: ' }, { toolCall: call }] }, { text: 'done' }] });

  const records = await peer.run('say hi');

  const { messages } = await peer.ok({ type: 'get_messages' });
  const ends = records.filter(({ type }) => type === 'message_end').map(({ message }) => message);
  expect(messages).toEqual(ends);
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  expect(messages).toEqual(readSessionFile(sessionFile).flatMap(({ message }) => (message ? [message] : [])));
});

verifies('G17', 'a message that still streams is not among the messages', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'half ' }, { stall: true }] }] });
  await peer.ok({ type: 'prompt', message: 'wait' });
  await peer.next('message_update');

  const during = await peer.ok({ type: 'get_messages' });
  await peer.ok({ type: 'abort' });
  const after = await peer.ok({ type: 'get_messages' });

  expect(during.messages.map(({ role }: { role: string }) => role)).toEqual(['user']);
  expect(after.messages.slice(1)).toMatchObject([
    { content: [{ type: 'text', text: 'half ' }], stopReason: 'aborted' },
  ]);
});

verifies('G17', 'get_messages returns only the active branch', async ({ open }) => {
  const home = newHome();
  const lines = [
    ...shortConversation(home.cwd),
    userEntry('cccccccc', null, 'anew'),
    assistantEntry('dddddddd', 'cccccccc', 'two'),
  ];
  const { peer } = await open({ home, args: ['--session', storeSession(home, lines)] });

  const { messages } = await peer.ok({ type: 'get_messages' });

  expect(messages).toEqual(
    readSessionFile(storeSession(home, lines, { name: 'copy' }))
      .slice(3)
      .map(({ message }) => message),
  );
});

verifies('G18', 'entries other than messages that reach the model have roles of their own', async ({ open }) => {
  const home = newHome();
  const lines = [
    header(home.cwd),
    userEntry('00000001', null, 'first'),
    entry('branch_summary', '00000002', '00000001', { fromId: 'root', summary: 'what was left' }),
    entry('custom_message', '00000003', '00000002', { customType: 'note', content: 'hello', display: true }),
    entry('custom', '00000004', '00000003', { customType: 'state', data: { n: 1 } }),
    entry('label', '00000005', '00000004', { targetId: '00000001', label: 'x' }),
  ];
  const { peer } = await open({ home, args: ['--session', storeSession(home, lines)] });

  const { messages } = await peer.ok({ type: 'get_messages' });

  const timestamp = Date.parse('2026-01-02T03:04:05.678Z');
  expect(messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'first' }], timestamp: 1 },
    { role: 'branchSummary', summary: 'what was left', fromId: 'root', timestamp },
    { role: 'custom', customType: 'note', content: 'hello', display: true, timestamp },
  ]);
});

verifies('G19', 'get_last_assistant_text returns the text of the last assistant message', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { steps: [{ thinking: 'hm' }, { text: 'two' }] }] });
  await peer.run('first');

  const first = await peer.ok({ type: 'get_last_assistant_text' });
  await peer.run('second');

  expect(first).toEqual({ text: 'one' });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'two' });
});

verifies('G19', 'get_last_assistant_text skips a message aborted before its first token', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { stall: true }] });
  await peer.run('first');
  await peer.ok({ type: 'prompt', message: 'second' });
  await peer.ok({ type: 'abort' });

  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'one' });
});

verifies('G20 D16', 'get_last_assistant_text returns null without an assistant text', async ({ open }) => {
  const home = newHome();
  const call = { type: 'toolCall', id: 'c', name: 'read', arguments: {} };
  const silent = entry('message', 'bbbbbbbb', 'aaaaaaaa', {
    message: assistantMessage({ content: [call], stopReason: 'aborted' }),
  });
  const path = storeSession(home, [header(home.cwd), userEntry('aaaaaaaa', null, 'first'), silent]);
  const { peer } = await open({ home });

  const empty = await peer.request({ type: 'get_last_assistant_text' });
  await peer.ok({ type: 'switch_session', sessionPath: path });
  const wordless = await peer.request({ type: 'get_last_assistant_text' });

  expect([empty, wordless]).toMatchObject([{ data: { text: null } }, { data: { text: null } }]);
});

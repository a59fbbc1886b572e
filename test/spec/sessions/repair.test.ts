import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import {
  assistantMessage,
  entry,
  header,
  linesOf,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const calls = ['call_1', 'call_2'].map((id) => ({ type: 'toolCall', id, name: 'bash', arguments: { command: 'x' } }));
const callingEntry = entry('message', 'bbbbbbbb', 'aaaaaaaa', {
  message: assistantMessage({ content: calls, stopReason: 'toolUse' }),
});
const result = (id: string, parentId: string, toolCallId: string) =>
  entry('message', id, parentId, {
    message: { role: 'toolResult', toolCallId, toolName: 'bash', content: [], isError: false, timestamp: 3 },
  });
const missingResult = (toolCallId: string) => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'bash',
  content: [{ type: 'text', text: expect.stringContaining('No result') }],
  details: { interrupted: true },
  isError: true,
  timestamp: expect.any(Number),
});

const torn =
  '{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-02T03:04:05.678Z","message":{"role":"us';

for (const way of ['at start', 'by switch_session'] as const) {
  verifies('J10 J12', `a torn last line is removed and reported ${way}`, async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const whole = readFileSync(path, 'utf8');
    appendFileSync(path, torn);
    const { peer } = await open({
      home,
      args: way === 'at start' ? ['--session', path] : [],
      script: [{ text: 'two' }],
    });

    if (way === 'by switch_session') await peer.ok({ type: 'switch_session', sessionPath: path });
    const repair = await peer.find('session_repaired');

    const bytes = Buffer.byteLength(torn);
    expect(repair).toEqual({ type: 'session_repaired', sessionId: 'stored-1', toolCallIds: [], tornBytes: bytes });
    expect(readFileSync(path, 'utf8')).toBe(whole);
    await peer.run('second');
    expect(readSessionFile(path).map(({ parentId }) => parentId)).toEqual([
      undefined,
      null,
      'aaaaaaaa',
      'bbbbbbbb',
      expect.any(String),
    ]);
  });

  verifies('J11 J12', `tool calls without a result get error results ${way}`, async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, [header(home.cwd), userEntry('aaaaaaaa', null, 'go'), callingEntry]);
    const { peer } = await open({
      home,
      args: way === 'at start' ? ['--session', path] : [],
      script: [{ text: 'sorry' }],
    });

    if (way === 'by switch_session') await peer.ok({ type: 'switch_session', sessionPath: path });
    const repair = await peer.find('session_repaired');

    const toolCallIds = ['call_1', 'call_2'];
    expect(repair).toEqual({ type: 'session_repaired', sessionId: 'stored-1', toolCallIds, tornBytes: 0 });
    expect(
      readSessionFile(path)
        .slice(3)
        .map(({ message }) => message),
    ).toEqual([missingResult('call_1'), missingResult('call_2')]);
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages.slice(2)).toEqual([missingResult('call_1'), missingResult('call_2')]);
    expect(await peer.run('again')).not.toContainEqual(expect.objectContaining({ type: 'tool_execution_start' }));
  });
}

verifies('J10', 'a complete last line without a line break is completed and kept', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const whole = readFileSync(path, 'utf8');
  writeFileSync(path, whole.slice(0, -1));
  const { peer } = await open({ home, args: ['--session', path] });

  const { messageCount } = await peer.ok({ type: 'get_state' });

  expect(messageCount).toBe(2);
  expect(readFileSync(path, 'utf8')).toBe(whole);
  expect(peer.records.filter(({ type }) => type === 'session_repaired')).toEqual([]);
});

verifies('J10', 'a file truncated at any byte opens with every complete line', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const [top = '', first = '', second = ''] = linesOf(path);
  const start = Buffer.byteLength(`${top}\n${first}\n`);
  const bytes = readFileSync(path);
  const { peer } = await open({ home });

  for (const cut of [0, 1, 2, 40, second.length - 2, second.length - 1]) {
    writeFileSync(path, bytes.subarray(0, start + cut));
    await peer.ok({ type: 'switch_session', sessionPath: path });
    expect(linesOf(path)).toEqual([top, first]);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 1 });
    await peer.ok({ type: 'new_session' });
  }
});

verifies('J11 J12', 'only tool calls without a result are repaired', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [
    header(home.cwd),
    userEntry('aaaaaaaa', null, 'go'),
    callingEntry,
    result('cccccccc', 'bbbbbbbb', 'call_2'),
  ]);

  const { peer } = await open({ home, args: ['--session', path] });

  expect(await peer.find('session_repaired')).toMatchObject({ toolCallIds: ['call_1'] });
  expect(readSessionFile(path).slice(4)).toMatchObject([
    { parentId: 'cccccccc', message: { toolCallId: 'call_1', isError: true } },
  ]);
});

verifies('J11', 'tool calls of failed or aborted messages are not repaired', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({ home });

  for (const stopReason of ['error', 'aborted']) {
    const stopped = entry('message', 'bbbbbbbb', 'aaaaaaaa', {
      message: assistantMessage({ content: calls, stopReason }),
    });
    const path = storeSession(
      home,
      [header(home.cwd, { id: stopReason }), userEntry('aaaaaaaa', null, 'go'), stopped],
      {
        name: `${stopReason}.jsonl`,
      },
    );
    const before = readFileSync(path);
    await peer.ok({ type: 'switch_session', sessionPath: path });
    expect(readFileSync(path)).toEqual(before);
  }
  expect(peer.records.filter(({ type }) => type === 'session_repaired')).toEqual([]);
});

verifies('J12', 'a repair is reported once', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [header(home.cwd), userEntry('aaaaaaaa', null, 'go'), callingEntry]);
  const { peer } = await open({ home });

  await peer.ok({ type: 'switch_session', sessionPath: path });
  await peer.ok({ type: 'new_session' });
  await peer.ok({ type: 'switch_session', sessionPath: path });

  expect(peer.records.filter(({ type }) => type === 'session_repaired')).toHaveLength(1);
  expect(readSessionFile(path)).toHaveLength(5);
});

verifies('J10 J11 J12', 'a torn line and missing results are reported in one event', async ({ open }) => {
  const home = newHome();
  const path = storeSession(home, [header(home.cwd), userEntry('aaaaaaaa', null, 'go'), callingEntry]);
  appendFileSync(path, '{"type":"mess');

  const { peer } = await open({ home, args: ['--session', path] });

  expect(await peer.find('session_repaired')).toEqual({
    type: 'session_repaired',
    sessionId: 'stored-1',
    toolCallIds: ['call_1', 'call_2'],
    tornBytes: 13,
  });
  expect(linesOf(path).map((line) => JSON.parse(line).type)).toEqual([
    'session',
    'message',
    'message',
    'message',
    'message',
  ]);
});

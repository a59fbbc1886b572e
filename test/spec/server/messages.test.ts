import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newGate, openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import { startServer } from '../../support/server/test-server.ts';

it('[W3] commands are parsed and validated before they reach the agent', async () => {
  const { peer } = await openTestAgent('websocket');

  peer.send('{"id":1,\n{"id":2,"type":"nothing"}\n{"id":3,"type":"prompt"}\n{"id":4,"type":"get_state"}\n');
  await peer.find(({ id }) => id === 4);

  const responses = peer.records.filter(({ type }) => type === 'response');
  expect(responses.map(({ id, command, code }) => [id, command, code])).toEqual([
    [1, 'parse', 'invalid_json'],
    [2, 'nothing', 'unknown_command'],
    [3, 'prompt', 'invalid_params'],
    [4, 'get_state', undefined],
  ]);
  expect(responses[3]).toMatchObject({ data: { isIdle: true, messageCount: 0 } });
});

it('[W4] records of the agent are sent as they arrive', async () => {
  const gate = newGate();
  const { peer } = await openTestAgent('websocket', {
    script: [{ steps: [{ text: 'now ' }, { await: gate.path }, { text: 'then' }] }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });

  await peer.find(({ type, message }) => type === 'message_update' && JSON.stringify(message).includes('now'));
  expect(peer.records.some(({ type }) => type === 'agent_end')).toBe(false);
  gate.open();
  await peer.find('agent_settled');
});

it('[W5 W6] tools run on the server, which stores the session', async () => {
  const content = 'made by a tool';
  const server = await startServer({
    script: [{ toolCall: { name: 'write', arguments: { path: 'note.txt', content } } }, { text: 'done' }],
  });
  const peer = await server.attach();
  await peer.run('write it');
  await peer.disconnect();
  server.kill('SIGTERM');
  await server.exited;

  expect(readFileSync(join(server.home.cwd, 'note.txt'), 'utf8')).toBe(content);
  const [session = ''] = sessionFiles(server.home);
  expect(existsSync(session)).toBe(true);
  const later = await (await startServer({ home: server.home })).attach({ session });
  const { messages } = await later.ok({ type: 'get_messages' });
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
});

it('[W14 W15] a message may hold several lines, each one JSON object', async () => {
  const server = await startServer();
  const peer = await server.attach();
  const ids = Array.from({ length: 50 }, (_, index) => index);

  peer.send(ids.map((id) => JSON.stringify({ id, type: 'get_state' })).join('\n'));
  peer.send('{"id":"alone","type":"get_state"}');
  peer.send('\n\r\n{"id":"among blanks","type":"get_state"}\r\n\n');
  peer.send('{"id":"half",');
  peer.send('"type":"get_state"}\n');
  await peer.ok({ type: 'get_messages' });

  const responses = peer.records.filter(({ command }) => command === 'get_state');
  expect(responses.map(({ id, success }) => [id, success])).toEqual(
    [...ids, 'alone', 'among blanks'].map((id) => [id, true]),
  );
  const malformed = peer.records.filter(({ command }) => command === 'parse');
  expect(malformed.map(({ id, success }) => [id, success])).toEqual([
    ['half', false],
    [undefined, false],
  ]);
});

it('[W16] each server message is one record', async () => {
  const server = await startServer({ script: [{ text: 'word ', times: 200 }] });
  const peer = server.connect();
  const messages: string[] = [];
  peer.socket.on('message', (data, isBinary) => messages.push(isBinary ? 'binary' : data.toString()));

  await peer.run('line\nbreaks \u2028 too');
  await peer.ok({ type: 'get_messages' });

  expect(messages.map((text) => JSON.parse(text))).toEqual(peer.records);
  expect(messages.filter((text) => /[\n\r\u2028]/.test(text))).toEqual([]);
});

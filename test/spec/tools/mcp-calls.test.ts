import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newGate, newHome, openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import {
  readNotes,
  stdioServer,
  toolCallScript,
  toolOutcomes,
  waitForStatuses,
  writeMcpServers,
} from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

const INTEROP = join(import.meta.dirname, '../../fixtures/mcp/sdk-server.mjs');

verifies('N35', 'the result of an MCP tool reaches the model, its structured content the details', async ({ open }) => {
  const home = newHome();
  const content = [
    { type: 'text', text: 'hello' },
    { type: 'resource_link', uri: 'file:///a', name: 'a' },
  ];
  writeMcpServers(home, { s: stdioServer({ answer: { content, structuredContent: { a: [1] } } }) });

  const { peer } = await open({ home, script: toolCallScript('s__answer') });
  const records = await peer.run('go');

  const end = records.find(({ type }) => type === 'tool_execution_end');
  expect(end).toMatchObject({
    toolName: 's__answer',
    isError: false,
    result: {
      content: [
        { type: 'text', text: 'hello' },
        { type: 'text', text: '[Resource file:///a: a]' },
      ],
      details: { structuredContent: { a: [1] } },
    },
  });
});

verifies('N35', 'failed, rejected and timed out MCP calls give error results; the run continues', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, {
    s: stdioServer({
      answer: { content: [{ type: 'text', text: 'no such file' }], isError: true },
      words: 'Bad arguments',
    }),
    mute: stdioServer({}, { timeoutMs: 4000 }),
  });

  const { peer } = await open({ home, script: toolCallScript('s__answer', 's__refuse', 'mute__hang') });
  const records = await peer.run('go');

  expect(toolOutcomes(records)).toEqual([
    { text: 'no such file', isError: true },
    { text: 'Bad arguments', isError: true },
    { text: 'The MCP server mute did not respond within 4 seconds', isError: true },
  ]);
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

verifies('N35', 'arguments reach the MCP server unchanged, even under an invalid schema', async ({ open }) => {
  const home = newHome();
  const inputSchema = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' }, b: { type: 'any' }, c: { enum: [{}] }, d: null },
    required: 'a',
    $defs: { a: { type: 'string' } },
  };
  writeMcpServers(home, { s: stdioServer({ tools: [{ name: 'odd', inputSchema }] }) });

  const { peer } = await open({ home, script: toolCallScript(['s__odd', { a: 'x', b: 1, c: {}, d: [] }]) });
  const records = await peer.run('go');

  expect(toolOutcomes(records)).toEqual([{ text: '{"a":"x","b":1,"c":{},"d":[]}', isError: false }]);
});

verifies('N35', 'progress of an MCP tool is published while it runs', async ({ open }) => {
  const home = newHome();
  const gate = newGate();
  writeMcpServers(home, { s: stdioServer({ gate: gate.path }) });
  const { peer } = await open({ home, script: toolCallScript('s__progress') });

  await peer.ok({ type: 'prompt', message: 'go' });
  const update = await peer.find(({ type, partialResult }) => {
    return type === 'tool_execution_update' && JSON.stringify(partialResult).includes('3/3');
  });
  gate.open();
  await peer.find('agent_settled');

  expect(update['partialResult']).toEqual({ content: [{ type: 'text', text: 'at it (3/3)' }] });
  expect(toolOutcomes(peer.records)).toEqual([{ text: 'done', isError: false }]);
});

verifies('N36', 'an abort ends an MCP call at once and notifies the server, which stays up', async ({ open }) => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeMcpServers(home, { s: stdioServer({ notes }) });
  const { peer } = await open({
    home,
    script: [...toolCallScript('s__hang').slice(0, 1), ...toolCallScript('s__echo')],
  });

  await peer.ok({ type: 'prompt', message: 'go' });
  await waitUntil(async () => readNotes(notes).includes('call hang'));
  await peer.ok({ type: 'abort' });
  const settled = await peer.find('agent_settled');
  await waitUntil(async () => readNotes(notes).some((note) => note.startsWith('cancelled')));
  const records = await peer.run('again');

  expect(settled).toMatchObject({ aborted: true });
  expect(toolOutcomes(peer.records)[0]).toEqual({ text: 'Operation aborted', isError: true });
  expect(toolOutcomes(records)).toEqual([{ text: '{}', isError: false }]);
  expect(readNotes(notes).filter((note) => note.startsWith('pid'))).toHaveLength(1);
});

verifies('N35', 'an MCP server built with the official SDK works', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { sdk: { command: process.execPath, args: [INTEROP] } });

  const { peer } = await open({ home, script: toolCallScript(['sdk__add', { a: 1, b: 2 }], ['sdk__add', { a: 'x' }]) });
  const records = await peer.run('go');

  const { mcpServers } = await peer.ok({ type: 'get_state' });
  expect(mcpServers).toEqual([{ name: 'sdk', status: 'ready', tools: ['sdk__add'] }]);
  const [sum, wrong] = toolOutcomes(records);
  expect(sum).toEqual({ text: '3', isError: false });
  expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('b: is required') });
});

it('[N42] secrets given to an MCP server appear in no output, log or session file', async () => {
  const home = newHome();
  const secret = 'hunter22-very-secret';
  const env = { TOKEN: secret, OTHER: '$GIVEN' };
  writeMcpServers(home, {
    dead: stdioServer({ exit: 1, stderr: `bad token ${secret} and given-secret` }, { env }),
    s: stdioServer({ words: `${secret} is no good` }, { env }),
    web: { url: 'http://127.0.0.1:9/mcp?key=in-the-address', headers: { Authorization: `Bearer ${secret}` } },
  });
  const log = join(home.root, 'log');

  const { peer, process: agent } = await openTestAgent('stdio', {
    home,
    script: toolCallScript('s__refuse', 's__crash'),
    env: { GIVEN: 'given-secret', TAU_LOG: 'debug' },
    args: ['--log-file', log],
  });
  await peer.run('go');
  await waitForStatuses(peer, 's', ['ready', 'failed', 'connecting', 'ready']);
  await peer.ok({ type: 'get_state' });

  const outputs = [
    agent?.stdout(),
    agent?.stderr(),
    ...[log, ...sessionFiles(home)].map((path) => readFileSync(path, 'utf8')),
  ];
  for (const word of [secret, 'given-secret', 'in-the-address']) expect(outputs.join('\n')).not.toContain(word);
  expect(outputs.join('\n')).toContain('… is no good');
});

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import {
  readNotes,
  statusesOf,
  stdioServer,
  toolCallScript,
  toolOutcomes,
  waitForStatuses,
  writeMcpServers,
} from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

/** A port on which no server listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const failures = {
  missing: [{ command: 'no-such-program' }, 'cannot be started (ENOENT)'],
  homeless: [stdioServer({}, { cwd: 'nowhere' }), expect.stringMatching(/^there is no folder .*nowhere$/)],
  crashing: [stdioServer({ exit: 7, stderr: 'one\ntwo\n' }), 'ended with code 7: one\ntwo'],
  'saying no': [stdioServer({ version: '1999-01-01' }), "Server's protocol version is not supported: 1999-01-01"],
  mute: [stdioServer({ silent: 'initialize' }, { timeoutMs: 300 }), 'did not connect within 0.3 seconds'],
  'slow to list': [stdioServer({ silent: 'tools/list' }, { timeoutMs: 2000 }), 'did not connect within 2 seconds'],
  unreachable: [{ url: `http://127.0.0.1:${await freePort()}/mcp` }, expect.stringContaining('ECONNREFUSED')],
} as const;

verifies('N37 N33 N32', 'failing MCP servers do not affect the others', async ({ open }) => {
  const home = newHome();
  const bad = Object.fromEntries(Object.entries(failures).map(([name, [entry]]) => [name, entry]));
  writeMcpServers(home, { ...bad, noisy: stdioServer({ garbage: true }), bare: stdioServer({ withoutTools: true }) });

  const { peer } = await open({ home, script: toolCallScript(['noisy__echo', { a: 1 }]) });
  const records = await peer.run('go');

  expect(toolOutcomes(records)).toEqual([{ text: '{"a":1}', isError: false }]);
  const { mcpServers } = await peer.ok({ type: 'get_state' });
  expect(mcpServers).toEqual([
    ...Object.entries(failures).map(([name, [, error]]) => ({ name, status: 'failed', tools: [], error })),
    { name: 'noisy', status: 'ready', tools: expect.arrayContaining(['noisy__echo']) },
    { name: 'bare', status: 'ready', tools: [] },
  ]);
  for (const name of Object.keys(failures)) expect(statusesOf(peer.records, name)).toEqual(['connecting', 'failed']);
});

verifies('N32', 'get_state responds while MCP servers connect, prompt after they have', async ({ open }) => {
  const home = newHome();
  const gate = newGate();
  writeMcpServers(home, {
    slow: stdioServer({ holds: 'initialize', gate: gate.path }, { timeoutMs: 60_000 }),
    fast: stdioServer(),
  });
  const { peer } = await open({ home, script: [{ text: 'hello' }] });

  const prompted = peer.request({ type: 'prompt', message: 'hi' });
  await waitForStatuses(peer, 'fast', ['ready']);
  const { mcpServers } = await peer.ok({ type: 'get_state' });
  gate.open();
  await prompted;

  expect(mcpServers).toMatchObject([
    { name: 'slow', status: 'connecting' },
    { name: 'fast', status: 'ready' },
  ]);
  const order = peer.records.map(({ type, command, server }) =>
    [type, command ?? (server as { name: string } | undefined)?.name].join(' '),
  );
  expect(order.lastIndexOf('mcp_status slow')).toBeLessThan(order.indexOf('response prompt'));
});

verifies('N37', 'an MCP server that dies in a call fails it, loses its tools and reconnects', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: stdioServer(), other: stdioServer() });
  const script = [
    { steps: [{ toolCall: { name: 's__crash', arguments: {} } }, { toolCall: { name: 's__hang', arguments: {} } }] },
    { text: 'oh' },
    ...toolCallScript('s__echo', 'other__echo'),
  ];
  const { peer } = await open({ home, script });

  const records = await peer.run('go');
  const back = await waitForStatuses(peer, 's', ['ready', 'failed', 'connecting', 'ready']);
  const again = await peer.run('again');

  expect(toolOutcomes(records)).toEqual([
    { text: 'The MCP server s ended with code 3', isError: true },
    { text: 'The MCP server s ended with code 3', isError: true },
  ]);
  expect(back.tools).toContain('s__echo');
  expect(toolOutcomes(again)).toEqual([
    { text: '{}', isError: false },
    { text: '{}', isError: false },
  ]);
  expect(statusesOf(peer.records, 's')).toEqual(['connecting', 'ready', 'failed', 'connecting', 'ready']);
  expect(statusesOf(peer.records, 'other')).toEqual(['connecting', 'ready']);
});

verifies('N37', 'an MCP server that is unavailable for a while is retried', async ({ open }) => {
  const home = newHome();
  const once = join(home.root, 'once');
  writeMcpServers(home, { s: stdioServer({ once }) });
  const { peer } = await open({ home, script: [...toolCallScript('s__crash'), { text: 'fine' }] });

  await peer.run('go');
  await waitForStatuses(peer, 's', ['ready', 'failed', 'connecting', 'failed']);
  const { activeTools } = await peer.ok({ type: 'get_state' });
  await peer.run('without it');
  rmSync(once);
  await waitForStatuses(peer, 's', ['ready', 'failed', 'ready']);

  expect(activeTools).toEqual(['read', 'bash', 'edit', 'write']);
  const { mcpServers } = await peer.ok({ type: 'get_state' });
  expect(mcpServers).toMatchObject([{ status: 'ready' }]);
});

verifies('N43', 'an MCP server that sends an oversized line is ended', async ({ open }) => {
  const home = newHome();
  const entry = stdioServer({ length: 16 * 1024 * 1024 + 1 });
  writeMcpServers(home, { s: entry });
  const { peer } = await open({ home, script: toolCallScript('s__shout') });

  const records = await peer.run('go');

  const [{ text = '' } = {}] = toolOutcomes(records);
  expect(text).toBe('The MCP server s sent more than 16777216 bytes in one line');
});

verifies('N43', 'the tools of an MCP server are limited to 500 and its list to 100 pages', async ({ open }) => {
  const home = newHome();
  const odd = [
    {
      name: 'fine',
      inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, anyOf: [{}], $defs: {} },
    },
    { name: 'list', inputSchema: { type: 'array' } },
    { name: 'wordy', description: 'x'.repeat(70_000), inputSchema: { type: 'object' } },
    { inputSchema: { type: 'object' } },
    null,
  ];
  const notes = join(home.root, 'notes');
  writeMcpServers(home, {
    many: { command: process.execPath, args: ['-e', SERVER_OF_MANY] },
    endless: stdioServer({ tools: [], endless: true, notes }),
    odd: stdioServer({ tools: odd }),
  });

  const { peer } = await open({ home, script: toolCallScript('many__t499', 'odd__fine') });
  const records = await peer.run('go');

  expect(toolOutcomes(records).map(({ isError }) => isError)).toEqual([false, false]);
  const { mcpServers } = await peer.ok({ type: 'get_state' });
  expect(mcpServers.map((server: { tools: string[] }) => server.tools.length)).toEqual([500, 0, 1]);
  expect(readNotes(notes).filter((note) => note === 'list')).toHaveLength(100);
});

/** A server program that lists 3000 tools on pages of 40. */
const SERVER_OF_MANY = `
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const from = Number(params?.cursor ?? 0);
  const page = Array.from({ length: 40 }, (_, index) => ({ name: 't' + (from + index), inputSchema: { type: 'object' } }));
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } } });
  if (method === 'tools/list') say({ id, result: { tools: page, ...(from < 2960 ? { nextCursor: String(from + 40) } : {}) } });
  if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: params.name }] } });
});`;

verifies('N38', 'a changed tool list is read again, and new tools are offered', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: stdioServer() });
  const { peer } = await open({ home, script: [...toolCallScript('s__grow'), ...toolCallScript('s__grown10')] });

  await peer.run('go');
  const { tools } = await waitForStatuses(peer, 's', ['ready', 'ready']);
  const records = await peer.run('again');

  expect(tools.at(-1)).toBe('s__grown10');
  expect(toolOutcomes(records)).toEqual([{ text: '{}', isError: false }]);
});

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { header, storeSession } from '../../support/sessions/stored-session.ts';
import { readNotes, toolCallScript, toolOutcomes, writeMcpServers } from '../../support/tools/mcp.ts';
import { askingServer } from '../../support/tools/mcp-asking.ts';
import { startHttpMcpServer } from '../../support/tools/mcp-http.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

const rpcError = (code: number, message: string, id: unknown = null) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });

for (const code of [-32000, -32001, -32042]) {
  verifies('N45', `an error ${code} of an MCP server is reported in its words`, async ({ open }) => {
    const home = newHome();
    writeMcpServers(home, { s: askingServer({ error: { code, message: 'Out of paper' } }) });
    const { peer } = await open({ home, script: toolCallScript('s__refuse', 's__refuse') });

    const outcomes = toolOutcomes(await peer.run('go'));

    expect(outcomes).toEqual(Array(2).fill({ text: 'Out of paper', isError: true }));
    expect((await peer.ok({ type: 'get_state' })).mcpServers).toMatchObject([{ status: 'ready' }]);
  });
}

verifies('N45', 'an error in the body of a refused HTTP request is reported in its words', async ({ open }) => {
  const home = newHome();
  const server = await startHttpMcpServer({
    onCall: (response, { id }) =>
      void response.writeHead(400, { 'content-type': 'application/json' }).end(rpcError(-32000, 'Out of ink', id)),
  });
  writeMcpServers(home, { s: { url: server.url } });
  const { peer } = await open({ home, script: toolCallScript('s__echo') });

  expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: 'Out of ink', isError: true }]);
  expect(server.requests.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(1);
});

for (const [status, body] of [
  [404, 'gone'],
  [400, rpcError(-32000, 'Bad Request: No valid session ID provided')],
] as const) {
  verifies(
    'N46',
    `an HTTP session that is lost by ${status} is opened anew and the call repeated`,
    async ({ open }) => {
      const home = newHome();
      let refused = 0;
      const server = await startHttpMcpServer({
        onRequest: (response, { headers }) => {
          const isLost =
            headers['mcp-session-id'] !== undefined && !server.sessions.has(String(headers['mcp-session-id']));
          if (isLost) response.writeHead(status, { 'content-type': 'application/json' }).end(body);
          if (isLost) refused++;
          return isLost;
        },
      });
      writeMcpServers(home, { s: { url: server.url } });
      const { peer } = await open({ home, script: toolCallScript(['s__echo', { a: 1 }]) });
      await peer.ok({ type: 'set_auto_retry', enabled: true });
      server.sessions.clear();

      expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: '{"a":1}', isError: false }]);
      expect(refused).toBeGreaterThan(0);
      expect(server.requests.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(2);
    },
  );
}

verifies('N46', 'parallel calls whose lost session is refused one after another are all repeated', async ({ open }) => {
  const home = newHome();
  const refusals: (() => void)[] = [];
  const server = await startHttpMcpServer({
    onRequest: (response, { headers }) => {
      const { rpc } = server.requests.at(-1) ?? {};
      const isLost = rpc === 'tools/call' && !server.sessions.has(String(headers['mcp-session-id']));
      if (isLost) refusals.push(() => void response.writeHead(404).end('gone'));
      // A refusal is sent when all calls have arrived, while the new session opens, and while it is used.
      const isReleasing = isLost ? refusals.length === 3 : rpc === 'initialize' || rpc === 'tools/call';
      if (isReleasing) refusals.shift()?.();
      return isLost;
    },
  });
  writeMcpServers(home, { s: { url: server.url } });
  const calls = ['a', 'b', 'c'].map((name) => ({ toolCall: { name: 's__echo', arguments: { name } } }));
  const { peer } = await open({ home, script: [{ steps: calls }, { text: 'done' }] });
  await peer.ok({ type: 'set_auto_retry', enabled: true });
  server.sessions.clear();

  const texts = toolOutcomes(await peer.run('go')).map(({ text }) => text);

  expect(texts.sort()).toEqual(['{"name":"a"}', '{"name":"b"}', '{"name":"c"}']);
  expect(server.requests.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(2);
  expect((await peer.ok({ type: 'get_state' })).mcpServers).toMatchObject([{ status: 'ready' }]);
});

verifies('N46', 'a call that a server may have run is not repeated', async ({ open }) => {
  const home = newHome();
  let calls = 0;
  const server = await startHttpMcpServer({
    onCall: (response) => {
      calls++;
      response.destroy();
    },
  });
  writeMcpServers(home, { s: { url: server.url } });
  const { peer } = await open({ home, script: toolCallScript('s__echo') });

  expect(toolOutcomes(await peer.run('go'))).toMatchObject([{ isError: true }]);
  expect(calls).toBe(1);
});

const taskTool = { name: 'long', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } };
const tasks = { requests: { tools: { call: {} } } };

verifies('N47', 'a tool that requires tasks is run as a task', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: askingServer({ tools: [taskTool], capabilities: { tools: {}, tasks }, polls: 3 }) });
  const { peer } = await open({ home, script: toolCallScript('s__long') });

  expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: 'the result of the task', isError: false }]);
});

verifies('N47', 'an abort cancels the task of a tool', async ({ open }) => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  const capabilities = { tools: {}, tasks };
  writeMcpServers(home, { s: askingServer({ tools: [taskTool], capabilities, polls: 1_000_000, notes }) });
  const { peer } = await open({ home, script: toolCallScript('s__long') });

  await peer.ok({ type: 'prompt', message: 'go' });
  await waitUntil(async () => readNotes(notes).includes('tasks/get'));
  await peer.ok({ type: 'abort' });

  await waitUntil(async () => readNotes(notes).includes('cancel t1'));
});

verifies('N47', 'a tool that requires tasks is not offered if its server runs none', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: askingServer({ tools: [taskTool, 'roots'] }) });
  const { peer } = await open({ home });

  await peer.ok({ type: 'set_auto_retry', enabled: true });

  expect((await peer.ok({ type: 'get_state' })).mcpServers).toMatchObject([{ status: 'ready', tools: ['s__roots'] }]);
});

verifies('N48', 'a program that offers only the revision of 2026-07-28 is used', async ({ open }) => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeMcpServers(home, { s: askingServer({ onlyModern: true, notes, tools: ['plain'] }) });
  const { peer } = await open({ home, script: toolCallScript('s__plain') });

  expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: 'called', isError: false }]);
  expect(readNotes(notes)).toContain('call plain 2026-07-28');
});

/** Starts a server with the transport of 2024: an event stream, and a POST address that it names. */
async function startSseServer(statusOfPost: number) {
  let stream: ServerResponse | undefined;
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.write('event: endpoint\ndata: /messages?id=1\n\n');
      return;
    }
    if (request.url === '/sse') return void response.writeHead(statusOfPost).end('not here');
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString());
    response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 'old', version: '1' },
      },
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: `old ${params?.name}` }] },
    };
    if (id !== undefined)
      stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  onTestFinished(() => void server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/sse`, seen, drop: () => stream?.destroy() };
}

for (const status of [400, 404, 405]) {
  verifies('N49', `the older transport is used after ${status}`, async ({ open }) => {
    const home = newHome();
    const server = await startSseServer(status);
    writeMcpServers(home, { s: { url: server.url } });
    const { peer } = await open({ home, script: toolCallScript('s__echo') });

    expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: 'old echo', isError: false }]);
  });
}

verifies('N49', 'the older transport is used at once if the entry names it, and reconnected', async ({ open }) => {
  const home = newHome();
  const server = await startSseServer(404);
  writeMcpServers(home, { s: { type: 'sse', url: server.url } });
  const { peer } = await open({ home, script: toolCallScript('s__echo') });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  expect(server.seen[0]).toBe('GET /sse');
  server.drop();
  await peer.find(({ type, server: s }) => type === 'mcp_status' && (s as { status: string }).status === 'failed');
  await waitUntil(async () => (await peer.ok({ type: 'get_state' })).mcpServers[0].status === 'ready');
  expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: 'old echo', isError: false }]);
});

verifies('N49', 'another refusal than those is final', async ({ open }) => {
  const home = newHome();
  const server = await startSseServer(422);
  writeMcpServers(home, { s: { url: server.url } });
  const { peer } = await open({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  expect((await peer.ok({ type: 'get_state' })).mcpServers).toMatchObject([
    { status: 'failed', error: 'responded with status 422: not here' },
  ]);
  expect(server.seen.filter((line) => line.startsWith('GET'))).toEqual([]);
});

verifies('N50', 'a byte-order mark before messages of an MCP server is ignored', async ({ open }) => {
  const home = newHome();
  const web = await startHttpMcpServer({
    onCall: (response, { id }) => {
      const result = { content: [{ type: 'text', text: 'marked' }] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`\uFEFF${JSON.stringify({ jsonrpc: '2.0', id, result })}`);
    },
  });
  writeMcpServers(home, { s: askingServer({ mark: '\uFEFF', tools: ['plain'] }), w: { url: web.url } });
  const { peer } = await open({ home, script: toolCallScript('s__plain', 'w__echo') });

  expect(toolOutcomes(await peer.run('go')).map(({ text }) => text)).toEqual(['called', 'marked']);
});

it.each([
  ['text/csv', 'a,b\n1,2'],
  ['application/json', '{"a":1}'],
])('[N50] a resource of the type %s in base64 is given to the model as text', async (mimeType, content) => {
  const { parseToolResult } = await import('../../../src/extend/mcp/tools/tool-output.ts');
  const blob = Buffer.from(content).toString('base64');

  const output = await parseToolResult({ content: [{ type: 'resource', resource: { uri: 'x:1', mimeType, blob } }] });

  expect(output.content).toEqual([{ type: 'text', text: `[Resource x:1]\n${content}` }]);
});

verifies(
  'N51',
  'a server at a URL receives the change of its root',
  async ({ open }) => {
    const home = newHome();
    const server = await startHttpMcpServer();
    writeMcpServers(home, { s: { url: server.url } });
    const sessionPath = storeSession(home, [header(newHome().cwd)]);
    const { peer } = await open({ home });
    await peer.ok({ type: 'set_auto_retry', enabled: true });

    await peer.ok({ type: 'switch_session', sessionPath });

    await waitUntil(async () => server.requests.some(({ rpc }) => rpc === 'notifications/roots/list_changed'));
    expect(server.requests.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(1);
  },
  AGENT_SWITCHES_SESSION,
);

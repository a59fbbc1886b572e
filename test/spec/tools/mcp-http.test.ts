import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { expect, it, onTestFinished } from 'vitest';
import { newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { statusesOf, toolCallScript, toolOutcomes, waitForStatuses, writeMcpServers } from '../../support/tools/mcp.ts';
import { startHttpMcpServer } from '../../support/tools/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';

const secret = 'web-secret-123456';
const headers = { Authorization: `Bearer ${secret}`, 'X-Team': 'a' };

verifies('N44', 'an MCP server at a URL is used with plain JSON and event streams', async ({ open: openAgent }) => {
  const home = newHome();
  const plain = await startHttpMcpServer();
  const streams = await startHttpMcpServer({ streams: true });
  writeMcpServers(home, { plain: { url: plain.url, headers }, streams: { type: 'http', url: streams.url } });

  const { peer, close } = await openAgent({
    home,
    script: toolCallScript(['plain__echo', { a: 1 }], ['streams__echo', { b: 2 }]),
  });
  const records = await peer.run('go');
  await close();

  expect(toolOutcomes(records)).toEqual([
    { text: '{"a":1}', isError: false },
    { text: '{"b":2}', isError: false },
  ]);
  for (const { headers: sent } of plain.requests) {
    expect(sent).toMatchObject({ authorization: headers.Authorization, 'x-team': 'a' });
  }
  // Closing the agent ended the MCP sessions.
  expect([plain.sessions.size, streams.sessions.size]).toEqual([0, 0]);
});

verifies('N44 N42', 'headers are not sent to a redirect target of another origin', async ({ open: openAgent }) => {
  const home = newHome();
  const elsewhere = await startHttpMcpServer();
  const local = await startHttpMcpServer({
    onRequest: (response, { url }) => {
      if (url === '/mcp') response.writeHead(307, { location: '/moved' }).end();
      return url === '/mcp';
    },
  });
  const foreign = await startHttpMcpServer({
    onRequest: (response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
      return true;
    },
  });
  writeMcpServers(home, { local: { url: local.url, headers }, foreign: { url: foreign.url, headers } });

  const { peer } = await openAgent({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  const { mcpServers } = await peer.ok({ type: 'get_state' });
  expect(mcpServers).toMatchObject([
    { name: 'local', status: 'ready' },
    { name: 'foreign', status: 'failed', error: expect.stringContaining(`Redirect to ${elsewhere.url} not followed`) },
  ]);
  expect(elsewhere.requests).toEqual([]);
});

verifies(
  'N37 N42',
  'the error text of an MCP server is reported without the secrets it was given',
  async ({ open: openAgent }) => {
    const home = newHome();
    const { url } = await startHttpMcpServer({
      onRequest: (response, request) => {
        response
          .writeHead(401)
          .end(`${request.headers.authorization} is wrong, ${request.url} too ${'x'.repeat(5000)}`);
        return true;
      },
    });
    writeMcpServers(home, { s: { url: `${url}?key=in-the-address`, headers } });

    const { peer } = await openAgent({ home });
    await peer.ok({ type: 'set_auto_retry', enabled: true });

    const [{ error }] = (await peer.ok({ type: 'get_state' })).mcpServers;
    expect(error).toMatch(/^responded with status 401: … is wrong, \/mcp… too x+$/);
    expect(error.length).toBeLessThan(1100);
    expect(JSON.stringify(peer.records)).not.toContain(secret);
  },
);

verifies('N37', 'an MCP server that loses its session or breaks off is reconnected', async ({ open: openAgent }) => {
  const home = newHome();
  let dropsResponse = true;
  const server = await startHttpMcpServer({
    onCall: (response, { id }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const body = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'fine' }] } });
      if (dropsResponse) response.write(': wait\n\n', () => response.destroy());
      else response.end(`data: ${body}\n\n`);
      dropsResponse = false;
    },
  });
  writeMcpServers(home, { s: { url: server.url } });
  const one = toolCallScript('s__echo');
  const { peer } = await openAgent({ home, script: [...one, ...one, ...one] });

  const dropped = await peer.run('breaks off');
  await waitForStatuses(peer, 's', ['ready', 'failed', 'ready']);
  server.sessions.clear();
  const forgotten = await peer.run('is forgotten');
  await waitForStatuses(peer, 's', ['ready', 'failed', 'ready', 'failed', 'ready']);
  const fine = await peer.run('is fine');

  expect(toolOutcomes(dropped)).toMatchObject([{ isError: true, text: expect.stringContaining('The MCP server s ') }]);
  expect(toolOutcomes(forgotten)).toEqual([{ isError: false, text: 'fine' }]);
  expect(toolOutcomes(fine)).toEqual([{ isError: false, text: 'fine' }]);
});

verifies('N36', 'an abort ends an MCP call over HTTP and notifies the server', async ({ open: openAgent }) => {
  const home = newHome();
  const server = await startHttpMcpServer({ onCall: () => {} });
  writeMcpServers(home, { s: { url: server.url } });
  const { peer } = await openAgent({ home, script: toolCallScript('s__echo') });

  await peer.ok({ type: 'prompt', message: 'go' });
  await waitUntil(async () => server.requests.some(({ rpc }) => rpc === 'tools/call'));
  await peer.ok({ type: 'abort' });
  await peer.find('agent_settled');

  await waitUntil(async () => server.requests.some(({ rpc }) => rpc === 'notifications/cancelled'));
  expect(toolOutcomes(peer.records)).toEqual([{ text: 'Operation aborted', isError: true }]);
});

it.each([
  ['application/json', '', '"'],
  ['text/event-stream', 'data: ', ''],
])('[N43] an oversized MCP message over HTTP ends the connection: %s', async (type, before, after) => {
  const home = newHome();
  const server = await startHttpMcpServer({
    onCall: (response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(`${before}${after}${'x'.repeat(17 * 1024 * 1024)}${after}`);
    },
  });
  writeMcpServers(home, { s: { url: server.url } });
  const { peer } = await openTestAgent('stdio', { home, script: toolCallScript('s__echo') });

  const records = await peer.run('go');

  expect(toolOutcomes(records)).toEqual([
    { text: 'The MCP server s sent more than 16777216 bytes in one message', isError: true },
  ]);
});

it('[N44] MCP requests do not use a proxy', async () => {
  const home = newHome();
  const server = await startHttpMcpServer();
  writeMcpServers(home, { s: { url: server.url } });
  const env = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9', ALL_PROXY: 'http://127.0.0.1:9' };

  const { peer } = await openTestAgent('stdio', { home, env });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  expect(statusesOf(peer.records, 's')).toEqual(['connecting', 'ready']);
});

verifies('N44', 'an MCP server built with the official SDK works over HTTP', async ({ open: openAgent }) => {
  const home = newHome();
  const library = new McpServer({ name: 'sdk', version: '1' });
  library.registerTool('hello', { description: 'Says hello' }, () => {
    library.registerTool('more', {}, () => ({ content: [{ type: 'text', text: 'more' }] }));
    return { content: [{ type: 'text', text: 'hello' }] };
  });
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
  // biome-ignore lint/suspicious/noExplicitAny: the library's own types do not fit each other under our flags
  await library.connect(transport as any);
  const server = createServer((request, response) => void transport.handleRequest(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  writeMcpServers(home, { sdk: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` } });

  const { peer } = await openAgent({ home, script: [...toolCallScript('sdk__hello'), ...toolCallScript('sdk__more')] });
  const first = await peer.run('go');
  const { tools } = await waitForStatuses(peer, 'sdk', ['ready', 'ready']);
  const second = await peer.run('again');

  expect(toolOutcomes(first)).toEqual([{ text: 'hello', isError: false }]);
  expect(tools).toEqual(['sdk__hello', 'sdk__more']);
  expect(toolOutcomes(second)).toEqual([{ text: 'more', isError: false }]);
});

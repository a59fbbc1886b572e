import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { stdioServer, toolCallScript, toolOutcomes, writeMcpServers } from '../../support/tools/mcp.ts';
import { startHttpMcpServer } from '../../support/tools/mcp-http.ts';

/** Writes this text again and again, as fast as the reader takes it. */
function writeForever(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = () => {
    while (!response.destroyed && response.write(text));
  };
  response.on('drain', write);
  write();
}

it.each([
  ['empty events', ': nothing\n\n'.repeat(1000), '100000 events'],
  [
    'foreign messages',
    `data: {"jsonrpc":"2.0","method":"x","params":{"a":"${'x'.repeat(100_000)}"}}\n\n`,
    '134217728 bytes',
  ],
])('[N67] a stream of %s that never ends closes the connection to an MCP server', async (_, text, limit) => {
  const home = newHome();
  const server = await startHttpMcpServer({ onCall: (response) => writeForever(response, text) });
  writeMcpServers(home, { s: { url: server.url }, other: stdioServer() });
  const { peer } = await openTestAgent('stdio', { home, script: toolCallScript('s__echo', 'other__echo') });

  const outcomes = toolOutcomes(await peer.run('go'));

  expect(outcomes).toEqual([
    { text: `The MCP server s sent more than ${limit} in one minute`, isError: true },
    { text: '{}', isError: false },
  ]);
});

it('[N67] a single byte now and then does not keep a call of an MCP server alive', async () => {
  const home = newHome();
  const server = await startHttpMcpServer({
    onCall: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    },
  });
  writeMcpServers(home, { s: { url: server.url, timeoutMs: 2000 } });
  const { peer } = await openTestAgent('stdio', { home, script: toolCallScript('s__echo') });

  expect(toolOutcomes(await peer.run('go'))).toEqual([
    { text: 'The MCP server s did not respond within 2 seconds', isError: true },
  ]);
});

it('[N67] a program that never stops printing is ended, and other servers work', async () => {
  const home = newHome();
  const flood = `process.stdout.write('Server running!\\n'.repeat(1000), flood)`;
  const code = `
    const { createInterface } = require('node:readline');
    const flood = () => ${flood};
    const results = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    };
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (results[method]) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }) + '\\n');
      if (method === 'tools/call') flood();
    });`;
  writeMcpServers(home, {
    s: { command: process.execPath, args: ['-e', code] },
    other: stdioServer(),
  });
  const { peer } = await openTestAgent('stdio', { home, script: toolCallScript('s__echo', 'other__echo') });

  expect(toolOutcomes(await peer.run('go'))).toEqual([
    { text: 'The MCP server s prints too much output that is not JSON-RPC', isError: true },
    { text: '{}', isError: false },
  ]);
});

import { join } from 'node:path';
import { expect } from 'vitest';
import { allNotifications, callTool, homeWithCommands } from '../../support/agent/extensions.ts';
import { verifies } from '../../support/verifies.ts';

const server = join(import.meta.dirname, '../../fixtures/mcp/stdio-server.mjs');

verifies('X79', 'an extension registers, lists and removes an MCP server', async ({ open }) => {
  const { home, path } = homeWithCommands(
    { remove: "pi.unregisterMcpServer('made'); tell(ctx, pi.getMcpServers().length);" },
    `pi.registerMcpServer('made', { command: process.execPath, args: [${JSON.stringify(server)}] });
    pi.registerCommand('list', { handler: async (args, ctx) => tell(ctx, pi.getMcpServers()) });`,
  );
  const { peer } = await open({ home, script: [callTool('made__echo', { text: 'hi' }), { text: 'done' }] });

  await peer.run('go');
  const { mcpServers } = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'prompt', message: '/list' });
  await peer.ok({ type: 'prompt', message: '/remove' });

  expect(mcpServers).toMatchObject([{ name: 'made', status: 'ready' }]);
  expect(JSON.stringify(await peer.ok({ type: 'get_messages' }))).not.toContain('made__echo not found');
  expect(allNotifications(peer)).toEqual([
    [{ name: 'made', config: { command: process.execPath, args: [server] }, extensionPath: path }],
    0,
  ]);
});

verifies('X79 N65', 'an extension that handles changes of MCP servers connects them itself', async ({ open }) => {
  const { home } = homeWithCommands(
    { remove: "pi.unregisterMcpServer('made'); tell(ctx, pi.getMcpServers().length);" },
    `pi.on('mcp_servers_change', ({ servers }, ctx) => tell(ctx, ['changed', servers.map(({ name }) => name)]));
    pi.registerMcpServer('made', { command: process.execPath, args: [${JSON.stringify(server)}] });`,
  );
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/remove' });

  expect((await peer.ok({ type: 'get_state' })).mcpServers ?? []).toEqual([]);
  expect(allNotifications(peer)).toEqual([['changed', []], 0]);
});

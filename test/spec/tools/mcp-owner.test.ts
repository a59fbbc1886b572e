import { join } from 'node:path';
import { expect } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { readNotes, stdioServer, writeMcpServers } from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

const adapters = {
  'has the flag of pi-mcp-adapter': `pi.registerFlag('mcp-config', { type: 'string' });`,
  'handles mcp_servers_change': `pi.on('mcp_servers_change', () => {});`,
};

for (const [how, code] of Object.entries(adapters)) {
  verifies('N65', `tau leaves mcp.json to an extension that ${how}`, async ({ open }) => {
    const home = newHome();
    const notes = join(home.root, 'notes');
    const path = userExtension(home, 'adapter.ts', `export default (pi) => { ${code} };`);
    writeMcpServers(home, { shared: stdioServer({ notes }) });
    const { peer } = await open({ home });
    await peer.ok({ type: 'set_auto_retry', enabled: true });

    const { servers } = await peer.ok({ type: 'set_mcp_servers', servers: { own: stdioServer() } });

    expect(servers).toMatchObject([{ name: 'own', status: 'ready' }]);
    expect((await peer.ok({ type: 'get_state' })).mcpServers).toMatchObject([{ name: 'own' }]);
    expect(readNotes(notes)).toEqual([]);
    const warning = `The extension ${path} connects the servers of mcp.json: tau starts none of them`;
    expect(peer.records.filter(({ message }) => message === warning)).toHaveLength(1);
  });
}

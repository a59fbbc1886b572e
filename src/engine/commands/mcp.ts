import type { Handlers } from '../dispatch.ts';

export const mcp = {
  set_mcp_servers: async ({ servers }, { agent, signal }) => {
    const addons = await agent.addons.ensureLoaded();
    return { servers: await addons.useMcpServers(servers, signal) };
  },
} satisfies Partial<Handlers>;

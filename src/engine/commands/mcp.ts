import type { Handlers } from '../dispatch.ts';

export const mcp = {
  set_mcp_servers: async ({ servers }, { agent, signal }) => {
    const workshop = await agent.additions.need();
    return { servers: await workshop.useMcpServers(servers, signal) };
  },
} satisfies Partial<Handlers>;

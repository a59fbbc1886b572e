import type { Handlers } from '../dispatch.ts';

/** Handlers of shell commands, tools, host tools, MCP servers and todos. */
export const tools = {
  get_tools: (_params, { agent }) => ({ tools: agent.toolbox.describe() }),

  set_active_tools: ({ tools: names }, { agent }) => {
    agent.publishChanges(() => agent.toolbox.activate(names));
    return { activeTools: agent.toolbox.activeNames };
  },
} satisfies Partial<Handlers>;

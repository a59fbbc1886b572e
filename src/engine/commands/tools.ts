import type { Params } from '../../protocol/generated/vocabulary.ts';
import { publishChanges } from '../agent-state.ts';
import type { CommandContext, Handlers } from '../dispatch.ts';

/** Handlers of shell commands, tools and their approvals, host tools, MCP servers and todos. */
export const tools = {
  // Extensions and MCP servers that are starting bring tools.
  get_tools: (_params, { agent: { addons, toolbox } }) => {
    const described = () => ({ tools: toolbox.describe() });
    return addons.loading === undefined ? described() : addons.loading.then(described);
  },

  set_active_tools: ({ tools: names }, { agent }) => {
    publishChanges(agent, () => agent.toolbox.activate(names));
    return { activeTools: agent.toolbox.activeNames };
  },

  bash: (params, context) => {
    const run = () => shellCommand(params, context);
    // Extensions may hook into the command.
    const { loading } = context.agent.addons;
    return loading === undefined ? run() : loading.then(run);
  },

  abort_bash: async (_params, { agent }) => {
    // Also stops a command that waits for extensions.
    if (agent.addons.loading !== undefined) await agent.addons.loading;
    await agent.session.shell.abort();
    return undefined;
  },

  set_host_tools: async ({ tools }, { agent, connection }) => {
    const { toolbox } = agent;
    const { hostTools } = await agent.addons.ensureLoaded();
    const isTaken = (name: string) => (toolbox.sourceOf(name) ?? 'host') !== 'host';
    return publishChanges(agent, () => {
      const toolNames = hostTools.set(connection, tools, isTaken);
      toolbox.setTools('host', hostTools.tools, { isOffered: (name) => !hostTools.isHidden(name), ignoreChoice: true });
      return { toolNames };
    });
  },

  set_mcp_servers: async ({ servers }, { agent, signal }) => {
    const addons = await agent.addons.ensureLoaded();
    return { servers: await addons.useMcpServers(servers, signal) };
  },

  set_todos: async ({ phases }, { agent }) => {
    const todos = await (await agent.addons.ensureLoaded()).todos();
    return { todoPhases: [...todos.set(phases)] };
  },

  set_approval_mode: async (params, { agent }) => {
    await agent.approvals.change(params);
    const { approvalMode, sandbox } = agent.approvals.state;
    return { approvalMode, sandbox };
  },

  get_approvals: async (_params, { agent }) => ({ approvals: [...(await agent.approvals.ensureLoaded()).list()] }),

  remove_approval: async ({ rule }, { agent }) => {
    await (await agent.approvals.ensureLoaded()).remove(rule);
    return undefined;
  },
} satisfies Partial<Handlers>;

const shellCommand = (
  { command, excludeFromContext = false, carriageReturns }: Params<'bash'>,
  { agent, id }: CommandContext,
) =>
  agent.session.shell.run({
    command,
    excludeFromContext,
    carriageReturns,
    canReceive: () => agent.broadcast.hasRoom,
    onText: (delta) => {
      if (delta !== '')
        agent.broadcast.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
    },
  });

import type { Handlers } from '../dispatch.ts';

export const hostTools = {
  set_host_tools: async ({ tools }, { agent, connection }) => {
    const { toolbox } = agent;
    const hostTools = await (await agent.additions.need()).hostTools();
    const isTaken = (name: string) => (toolbox.sourceOf(name) ?? 'host') !== 'host';
    return agent.change(() => {
      const toolNames = hostTools.set(connection, tools, isTaken);
      toolbox.put('host', hostTools.tools, { isOffered: (name) => !hostTools.isHidden(name), anyway: true });
      return { toolNames };
    });
  },
} satisfies Partial<Handlers>;

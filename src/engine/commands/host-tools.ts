import type { Handlers } from '../dispatch.ts';

export const hostTools = {
  set_host_tools: async ({ tools }, { agent, connection }) => {
    const { toolbox } = agent;
    const hostTools = await (await agent.addons.ensureLoaded()).hostTools();
    const isTaken = (name: string) => (toolbox.sourceOf(name) ?? 'host') !== 'host';
    return agent.publishChanges(() => {
      const toolNames = hostTools.set(connection, tools, isTaken);
      toolbox.setTools('host', hostTools.tools, { isOffered: (name) => !hostTools.isHidden(name), ignoreChoice: true });
      return { toolNames };
    });
  },
} satisfies Partial<Handlers>;

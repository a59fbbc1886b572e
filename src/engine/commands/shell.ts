import type { Handlers } from '../dispatch.ts';

export const shell = {
  bash: async ({ command, excludeFromContext = false }, { agent, id }) => {
    // Extensions may have a say in it.
    await agent.additions.loading;
    return agent.session.shell.run({
      command,
      excludeFromContext,
      hasRoom: () => agent.audience.hasRoom,
      onText: (delta) => {
        if (delta !== '')
          agent.audience.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
      },
    });
  },

  abort_bash: async (_params, { agent }) => {
    await agent.session.shell.abort();
    return undefined;
  },
} satisfies Partial<Handlers>;

import type { Handlers } from '../dispatch.ts';

export const shell = {
  bash: ({ command, excludeFromContext = false }, { agent, id }) =>
    agent.session.shell.run({
      command,
      excludeFromContext,
      hasRoom: () => agent.audience.hasRoom,
      onText: (delta) => {
        if (delta !== '')
          agent.audience.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
      },
    }),

  abort_bash: async (_params, { agent }) => {
    await agent.session.shell.abort();
    return undefined;
  },
} satisfies Partial<Handlers>;

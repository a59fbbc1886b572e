import type { Handlers } from '../dispatch.ts';

export const shell = {
  bash: ({ command, excludeFromContext = false }, { agent, id }) => {
    const run = () =>
      agent.session.shell.run({
        command,
        excludeFromContext,
        hasRoom: () => agent.audience.hasRoom,
        onText: (delta) => {
          if (delta !== '')
            agent.audience.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
        },
      });
    // Extensions may have a say in it.
    const { loading } = agent.additions;
    return loading === undefined ? run() : loading.then(run);
  },

  abort_bash: async (_params, { agent }) => {
    // A command that still waits for extensions is stopped, too.
    if (agent.additions.loading !== undefined) await agent.additions.loading;
    await agent.session.shell.abort();
    return undefined;
  },
} satisfies Partial<Handlers>;

import type { Params } from '../../protocol/generated/vocabulary.ts';
import type { CommandContext, Handlers } from '../dispatch.ts';

export const shell = {
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
} satisfies Partial<Handlers>;

const shellCommand = ({ command, excludeFromContext = false }: Params<'bash'>, { agent, id }: CommandContext) =>
  agent.session.shell.run({
    command,
    excludeFromContext,
    canReceive: () => agent.broadcast.hasRoom,
    onText: (delta) => {
      if (delta !== '')
        agent.broadcast.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
    },
  });

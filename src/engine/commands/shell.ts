import type { Params } from '../../protocol/generated/vocabulary.ts';
import type { CommandContext, Handlers } from '../dispatch.ts';

export const shell = {
  bash: (params, context) => {
    const run = () => shellCommand(params, context);
    // Extensions may have a say in it.
    const { loading } = context.agent.addons;
    return loading === undefined ? run() : loading.then(run);
  },

  abort_bash: async (_params, { agent }) => {
    // A command that still waits for extensions is stopped, too.
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

import type { Params } from '../../protocol/generated/vocabulary.ts';
import type { Context, Handlers } from '../dispatch.ts';

export const shell = {
  bash: (params, context) => {
    const run = () => shellCommand(params, context);
    // Extensions may have a say in it.
    const { loading } = context.agent.additions;
    return loading === undefined ? run() : loading.then(run);
  },

  abort_bash: async (_params, { agent }) => {
    // A command that still waits for extensions is stopped, too.
    if (agent.additions.loading !== undefined) await agent.additions.loading;
    await agent.session.shell.abort();
    return undefined;
  },
} satisfies Partial<Handlers>;

const shellCommand = ({ command, excludeFromContext = false }: Params<'bash'>, { agent, id }: Context) =>
  agent.session.shell.run({
    command,
    excludeFromContext,
    canReceive: () => agent.audience.hasRoom,
    onText: (delta) => {
      if (delta !== '')
        agent.audience.publish({ type: 'bash_execution_update', ...(id === undefined ? {} : { id }), delta });
    },
  });

import { publishChanges } from '../agent-state.ts';
import type { Handlers } from '../dispatch.ts';

/** Handlers of compaction and retry. */
export const runs = {
  compact: ({ customInstructions }, { agent, signal }) => agent.session.compact(customInstructions, signal),

  set_auto_compaction: ({ enabled, persist }, { agent }) => {
    const use = () => void publishChanges(agent, () => Object.assign(agent.session.automatic, { compaction: enabled }));
    return agent.persistThen({ compaction: { enabled } }, { persist }, use);
  },

  set_auto_retry: ({ enabled, persist }, { agent }) => {
    const use = () => void publishChanges(agent, () => Object.assign(agent.session.automatic, { retry: enabled }));
    return agent.persistThen({ retry: { enabled } }, { persist }, use);
  },

  abort_retry: (_params, { agent }) => {
    agent.session.run?.recovery.cancelRetry();
    return undefined;
  },
} satisfies Partial<Handlers>;

import type { Handlers } from '../dispatch.ts';

export const navigation = {
  navigate_tree: ({ targetId, ...options }, { agent, signal }) => agent.session.navigate(targetId, options, signal),
} satisfies Partial<Handlers>;

import type { Handlers } from '../dispatch.ts';

export const navigation = {
  navigate_tree: ({ targetId, ...wish }, { agent, signal }) => agent.session.navigate(targetId, wish, signal),
} satisfies Partial<Handlers>;

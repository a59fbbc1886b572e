import type { Handlers } from '../dispatch.ts';

const moves = () => import('../moves.ts');

export const sessions = {
  new_session: async (params, { agent, signal }) => (await moves()).newSession(agent, params, signal),
  switch_session: async (params, { agent, signal }) => (await moves()).switchSession(agent, params, signal),
  fork: async (params, { agent, signal }) => (await moves()).fork(agent, params, signal),
  branch: async (params, { agent, signal }) => (await moves()).fork(agent, params, signal),
  clone: async ({ detached }, { agent, signal }) => (await moves()).copyUpTo(agent, { detached }, signal),
} satisfies Partial<Handlers>;

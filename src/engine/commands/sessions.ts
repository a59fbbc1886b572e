import type { Handlers } from '../dispatch.ts';

const sessionSwitch = () => import('../session-switch.ts');

/** Handlers that switch, read, list, rename, export and check sessions. */
export const sessions = {
  new_session: async (params, { agent, signal }) => (await sessionSwitch()).newSession(agent, params, signal),
  switch_session: async (params, { agent, signal }) => (await sessionSwitch()).switchSession(agent, params, signal),
  fork: async (params, { agent, signal }) => (await sessionSwitch()).forkSession(agent, params, signal),
  branch: async (params, { agent, signal }) => (await sessionSwitch()).forkSession(agent, params, signal),
  clone: async ({ detached }, { agent, signal }) => (await sessionSwitch()).cloneSession(agent, { detached }, signal),
} satisfies Partial<Handlers>;

import type { Handlers } from '../dispatch.ts';
import { copyUpTo, fork, newSession, switchSession } from '../moves.ts';

export const sessions = {
  new_session: (params, { agent, signal }) => newSession(agent, params, signal),
  switch_session: (params, { agent, signal }) => switchSession(agent, params, signal),
  fork: (params, { agent, signal }) => fork(agent, params, signal),
  branch: (params, { agent, signal }) => fork(agent, params, signal),
  clone: ({ detached }, { agent, signal }) => copyUpTo(agent, { detached }, signal),
} satisfies Partial<Handlers>;

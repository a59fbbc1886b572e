import type { Handlers } from '../dispatch.ts';

export const preflight = {
  preflight: (_params, { agent }) => agent.preflight(),
} satisfies Partial<Handlers>;

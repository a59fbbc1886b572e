import type { Scope } from '../../protocol/generated/command-rows.ts';

/** The scopes of a grant. None includes another. */
export const scopes = ['view', 'prompt', 'bash', 'admin'] as const satisfies readonly Scope[];

export type { Scope };

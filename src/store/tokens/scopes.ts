import type { Scope } from '../../protocol/generated/command-rows.ts';

/** What somebody may do. None of them includes another. */
export const scopes = ['view', 'prompt', 'bash', 'admin'] as const satisfies readonly Scope[];

export type { Scope };

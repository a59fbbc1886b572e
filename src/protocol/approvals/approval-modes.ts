import type { ApprovalMode } from '../generated/vocabulary.ts';

/** The approval modes, strictest first. */
export const approvalModes = ['plan', 'ask', 'edit', 'auto', 'full'] as const satisfies readonly ApprovalMode[];

/** Whether every call that runs without a question in the first mode does so in the second. */
export const isAtMost = (mode: ApprovalMode, other: ApprovalMode): boolean =>
  approvalModes.indexOf(mode) <= approvalModes.indexOf(other);

/** The strictest of the given modes; undefined if none is given. */
export function strictestMode(...modes: readonly (ApprovalMode | undefined)[]): ApprovalMode | undefined {
  return approvalModes.find((mode) => modes.includes(mode));
}

import { Refusal } from '../../protocol/errors.ts';
import type { Handlers } from '../dispatch.ts';

/** Handlers of the approval mode and of saved approvals. */
export const approvals = {
  set_approval_mode: () => {
    throw new Refusal('not_supported', 'Not supported yet');
  },

  get_approvals: () => ({ approvals: [] }),

  remove_approval: () => {
    throw new Refusal('not_found', 'No such approval');
  },
} satisfies Partial<Handlers>;

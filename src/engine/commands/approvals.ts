import type { Handlers } from '../dispatch.ts';

/** Handlers of the approval mode and of saved approvals. */
export const approvals = {
  set_approval_mode: async (params, { agent }) => {
    await agent.approvals.change(params);
    const { approvalMode, sandbox } = agent.approvals.state;
    return { approvalMode, sandbox };
  },

  get_approvals: async (_params, { agent }) => ({ approvals: [...(await agent.approvals.ensureLoaded()).list()] }),

  remove_approval: async ({ rule }, { agent }) => {
    await (await agent.approvals.ensureLoaded()).remove(rule);
    return undefined;
  },
} satisfies Partial<Handlers>;

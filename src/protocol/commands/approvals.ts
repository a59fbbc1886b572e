import { ApprovalMode, approvalLimit, SandboxState, SandboxUse, SavedApproval } from '../approvals.ts';
import { flag, list, nonEmpty, object, optional } from '../schema.ts';
import type { CommandTable } from './row.ts';

/** Commands about which tool calls of the model need an approval. */
export const approvalCommands = {
  set_approval_mode: {
    doc: 'Choose which tool calls run without a question, also during a run: questions that the new mode answers are closed. On a server a looser mode, or less of a sandbox, needs the scope `admin`.',
    params: {
      mode: optional(ApprovalMode),
      sandbox: optional(SandboxUse),
      approvalLimit,
      mayLoosen: optional(flag('Set by servers: false for clients that may only choose stricter modes.')),
    },
    result: object({ approvalMode: ApprovalMode, sandbox: SandboxState }),
    fails: ['permission_denied', 'sandbox_unavailable'],
    lane: 'control',
    scope: 'prompt',
  },
  get_approvals: {
    doc: 'The approvals that were given for this session and saved for its project.',
    params: {},
    result: object({ approvals: list(SavedApproval) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  remove_approval: {
    doc: 'Withdraw an approval, in this session and in the saved ones of its project.',
    params: { rule: nonEmpty() },
    fails: ['not_found'],
    lane: 'control',
    scope: 'prompt',
  },
} as const satisfies CommandTable;

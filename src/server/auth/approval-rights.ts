import { isAtMost } from '../../protocol/approvals/approval-modes.ts';
import type { ApprovalMode, CommandName } from '../../protocol/generated/vocabulary.ts';
import type { Grant, InboundType } from './grant.ts';

/** The command or frame with the approval rights of its sender in place of those that it claims. */
export function withApprovalRights<T extends object>(type: InboundType, inbound: T, grant: Grant): T {
  const { approvalLimit: _limit, mayLoosen: _loosen, ...own } = inbound as T & Record<string, unknown>;
  const limit = limitOf(grant);
  const isStrict = limit !== undefined || !grant.scopes.has('admin');
  return {
    ...(own as T),
    ...(limit !== undefined && LIMITED_TYPES.has(type) ? { approvalLimit: limit } : {}),
    ...(isStrict && type === 'set_approval_mode' ? { mayLoosen: false } : {}),
  };
}

/** Commands and frames that carry the limit of their sender to the agent. */
const LIMITED_TYPES: ReadonlySet<InboundType> = new Set<InboundType>([
  'prompt',
  'steer',
  'follow_up',
  'abort_and_prompt',
  'set_approval_mode',
  'extension_ui_response',
]);

/** Commands that start programs of the client's choice, or raise the rights of its runs. */
const UNLIMITED_COMMANDS: ReadonlySet<InboundType> = new Set<CommandName>([
  'bash',
  'set_mcp_servers',
  'set_trust',
  // Credentials serve the runs of all clients, and a sign-in may name the server of a model.
  'set_credential',
  'remove_credential',
  'login',
  // The message keeps the limit of the client that queued it.
  'edit_queued',
]);

type LimitedGrant = Pick<Grant, 'limit'>;

/** The limit of a grant; undefined if its runs may have any mode. */
export const limitOf = ({ limit }: LimitedGrant): ApprovalMode | undefined => (limit === 'full' ? undefined : limit);

/** Whether the limit of a grant forbids a command whatever its scopes are. */
export const isBeyondLimit = (grant: LimitedGrant, type: InboundType): boolean =>
  limitOf(grant) !== undefined && UNLIMITED_COMMANDS.has(type);

/** Whether a mode runs at most the tool calls without a question that the limit runs; no limit permits every mode. */
export const isWithinLimit = (mode: ApprovalMode, limit: ApprovalMode | undefined): boolean =>
  limit === undefined || isAtMost(mode, limit);

import { approvalModes, isAtMost, strictestMode } from '../../protocol/approvals/approval-modes.ts';
import type { ApprovalMode, SandboxUse } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { ApprovalPolicy } from './policy.ts';

/** `customType` of the entries with the mode that a client chose for the session. */
export const APPROVALS_TYPE = 'tau.approvals';

/** The mode and the sandbox that clients chose for a session. */
export interface ChosenApprovals {
  readonly mode?: ApprovalMode | undefined;
  readonly sandbox?: SandboxUse | undefined;
}

// Weakest first. Clients cannot choose `external`: then commands run with all rights and without a question.
const SANDBOX_USES: readonly SandboxUse[] = ['external', 'off', 'auto', 'required'];

/** The approval mode and the use of a sandbox that result for a session: the stricter of policy and choice counts. */
export class SessionApprovals {
  readonly policy: ApprovalPolicy;
  readonly chosen: ChosenApprovals;

  constructor(policy: ApprovalPolicy, chosen: ChosenApprovals) {
    this.policy = policy;
    this.chosen = chosen;
  }

  get mode(): ApprovalMode {
    const { ceiling } = this.policy;
    return strictestMode(this.chosen.mode, ceiling) ?? ceiling;
  }

  /** Whether a flag, a setting or a client chose the mode or the sandbox. */
  get isChosen(): boolean {
    const { isSet } = this.policy;
    return isSet || this.chosen.mode !== undefined || this.chosen.sandbox !== undefined;
  }

  /** The modes that a client may choose. */
  get modes(): ApprovalMode[] {
    return approvalModes.filter((mode) => isAtMost(mode, this.policy.ceiling));
  }

  get sandboxUse(): SandboxUse {
    const { use } = this.policy;
    const { sandbox: chosen } = this.chosen;
    if (use === 'external') return use;
    if (use === undefined) return chosen ?? (this.mode === 'full' ? 'off' : 'auto');
    return isWeaker(use, chosen ?? 'off') ? (chosen ?? use) : use;
  }

  /** Whether commands are to run in a sandbox, if one works. In the mode `full` only where it is required. */
  get wantsSandbox(): boolean {
    const use = this.sandboxUse;
    return use === 'required' || (use === 'auto' && this.mode !== 'full');
  }

  /** Whether this allows anything that the other does not. */
  isLooserThan(other: SessionApprovals): boolean {
    return !isAtMost(this.mode, other.mode) || isWeaker(this.sandboxUse, other.sandboxUse);
  }

  with({ mode, sandbox }: ChosenApprovals): SessionApprovals {
    const { mode: oldMode, sandbox: oldSandbox } = this.chosen;
    return new SessionApprovals(this.policy, { mode: mode ?? oldMode, sandbox: sandbox ?? oldSandbox });
  }
}

/** Stores a choice in a session that has none. */
export function recordChosen(log: SessionLog, chosen: ChosenApprovals): void {
  const isEmpty = chosen.mode === undefined && chosen.sandbox === undefined;
  if (!isEmpty && !hasChoice(log)) log.append({ type: 'custom', customType: APPROVALS_TYPE, data: chosen });
}

/** Whether clients made a choice in this session. */
export const hasChoice = (log: SessionLog): boolean => !log.allNodesOfKind(APPROVALS_TYPE).next().done;

const isWeaker = (use: SandboxUse, other: SandboxUse) => SANDBOX_USES.indexOf(use) < SANDBOX_USES.indexOf(other);

/** The last choice that clients made in a session. An entry never loosens what flags and settings allow. */
export function chosenIn(log: SessionLog): ChosenApprovals {
  for (const { id } of log.allNodesOfKind(APPROVALS_TYPE)) {
    const entry = log.entry(id);
    if (entry?.type !== 'custom') continue;
    const { mode, sandbox } = (entry.data ?? {}) as { mode?: unknown; sandbox?: unknown };
    return {
      mode: approvalModes.find((known) => known === mode),
      // The file of a session can only require more of a sandbox: `off` holds for the process in which a client chose it.
      sandbox: SANDBOX_USES.find((known) => known === sandbox && (known === 'auto' || known === 'required')),
    };
  }
  return {};
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Permit } from '../../agent/permission.ts';
import type { LogFolder } from '../../agent/tools/bash/output-log.ts';
import type { Approvals } from '../../extend/approvals/approvals.ts';
import { isAtMost, strictestMode } from '../../protocol/approvals/approval-modes.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { ApprovalMode, Params, SandboxState } from '../../protocol/generated/vocabulary.ts';
import type { Run } from '../../session/run/run.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { Agent } from '../agent.ts';
import { publishChanges } from '../agent-state.ts';
import type { ApprovalFlags, ApprovalPolicy } from './policy.ts';
import { APPROVALS_TYPE, chosenIn, hasChoice, SessionApprovals } from './session-approvals.ts';

/**
 * The approvals of the agent and its current session. The code that decides about calls is imported when the first call
 * needs a decision: in the mode `full` without rules none does.
 */
export class CurrentApprovals {
  readonly #commandLimit = new AsyncLocalStorage<ApprovalMode>();
  readonly #agent: Agent;
  #session: SessionApprovals;
  #importing: Promise<Approvals> | undefined;
  #loaded: Approvals | undefined;

  constructor(agent: Agent, policy: ApprovalPolicy, log: SessionLog) {
    this.#agent = agent;
    this.#session = new SessionApprovals(policy, chosenIn(log));
  }

  get session(): SessionApprovals {
    return this.#session;
  }

  /** The limit of the client whose command the calling code handles. */
  get commandLimit(): ApprovalMode | undefined {
    return this.#commandLimit.getStore();
  }

  /** Handles a command: the runs that extensions open for it have its limit too. */
  withCommandLimit<T>(limit: ApprovalMode | undefined, work: () => T): T {
    return limit === undefined ? work() : this.#commandLimit.run(limit, work);
  }

  /** The mode that holds for a run. */
  modeOf(run: Pick<Run, 'approvalLimit'> | undefined): ApprovalMode {
    const { mode } = this.#session;
    return strictestMode(mode, run?.approvalLimit) ?? mode;
  }

  get state(): { approvalMode: ApprovalMode; approvalModes: ApprovalMode[]; sandbox: SandboxState } {
    const { mode, modes } = this.#session;
    return { approvalMode: mode, approvalModes: modes, sandbox: this.#sandboxState };
  }

  get #sandboxState(): SandboxState {
    if (this.#session.sandboxUse === 'external') return { status: 'external' };
    return (this.#session.wantsSandbox ? this.#loaded?.sandboxState : undefined) ?? { status: 'off' };
  }

  /** Whether the model may request to leave the sandbox: there is one, and a client may answer. */
  get offersOutside(): boolean {
    return this.#agent.mode === 'rpc' && this.#session.wantsSandbox && this.#loaded?.sandboxState.status === 'on';
  }

  /** Where the logs of confined commands lie; undefined while commands are not confined. */
  get logFolder(): (() => LogFolder | undefined) | undefined {
    const loaded = this.#loaded;
    return this.#session.wantsSandbox && loaded?.sandboxState.status === 'on' ? () => loaded.logFolder : undefined;
  }

  /** The limits for agents inside this one; undefined while it has all rights. */
  get limits(): ApprovalFlags | undefined {
    const ofRun = this.modeOf(this.#agent.session.run);
    const mode = strictestMode(ofRun, this.commandLimit) ?? ofRun;
    const { sandboxUse: sandbox, wantsSandbox } = this.#session;
    return mode === 'full' && !wantsSandbox ? undefined : { mode, sandbox };
  }

  /** Undefined while every call may run with all rights. */
  permitFor(run: Run): Permit | undefined {
    const { policy, wantsSandbox } = this.#session;
    if (this.modeOf(run) === 'full' && !policy.hasLimits && !wantsSandbox) return undefined;
    return async (call, signal) => (await this.ensureLoaded()).permit(call, { run, signal });
  }

  /** Finds out whether a sandbox works, if the session wants one. Rejects if it requires one and none does. */
  async prepareFor(policy: ApprovalPolicy, log: SessionLog): Promise<void> {
    await this.#prepare(new SessionApprovals(policy, chosenIn(log)));
  }

  async #prepare({ wantsSandbox, sandboxUse }: SessionApprovals): Promise<void> {
    if (wantsSandbox) await (await this.ensureLoaded()).prepareSandbox(sandboxUse);
  }

  /** Uses the stored choice of a session that was prepared. One without a choice continues with the current one. */
  switchTo(policy: ApprovalPolicy, log: SessionLog): void {
    this.#session = new SessionApprovals(policy, hasChoice(log) ? chosenIn(log) : this.#session.chosen);
    this.#loaded?.onSessionSwitched();
  }

  /** Chooses the mode and the sandbox of the session; questions that the new mode answers are closed. */
  async change(params: Params<'set_approval_mode'>): Promise<void> {
    await this.#prepare(this.#changed(params));
    // Meanwhile another client may have chosen, or the session may be another one.
    const next = this.#changed(params);
    publishChanges(this.#agent, () => {
      this.#session = next;
      this.#agent.session.transcript.append({ type: 'custom', customType: APPROVALS_TYPE, data: next.chosen });
      this.#agent.currentProject.useShell();
    });
    await this.#loaded?.onModeChanged();
  }

  /** The session after a change. Throws if the client may not make it. */
  #changed({ mode, sandbox, approvalLimit, mayLoosen = true }: Params<'set_approval_mode'>): SessionApprovals {
    this.#checkMode(mode, approvalLimit);
    if (sandbox === 'external' && this.#session.policy.use !== sandbox)
      throw new Refusal('permission_denied', 'Only a flag or a setting declares that this machine is a sandbox');
    const next = this.#session.with({ mode, sandbox });
    if (!mayLoosen && next.isLooserThan(this.#session))
      throw new Refusal('permission_denied', 'A looser approval mode, or less of a sandbox, needs the scope admin');
    return next;
  }

  #checkMode(mode: ApprovalMode | undefined, limit: ApprovalMode | undefined): void {
    const { ceiling } = this.#session.policy;
    if (mode === undefined) return;
    if (!isAtMost(mode, ceiling))
      throw new Refusal('permission_denied', `The flags and settings of this agent allow at most the mode ${ceiling}`);
    if (limit !== undefined && !isAtMost(mode, limit))
      throw new Refusal('permission_denied', `The token allows at most the mode ${limit}`);
  }

  /** The code that decides. */
  ensureLoaded(): Promise<Approvals> {
    this.#importing ??= this.#load();
    return this.#importing;
  }

  async #load(): Promise<Approvals> {
    const { openApprovals } = await import('./open-approvals.ts');
    this.#loaded = await openApprovals(this.#agent, this);
    return this.#loaded;
  }

  async close(): Promise<void> {
    await (await this.#importing)?.close();
  }
}

import type { FileAccess, FinalCall, Permission } from '../../agent/permission.ts';
import { ToolError, textOutput } from '../../agent/tool.ts';
import type { LogFolder } from '../../agent/tools/bash/output-log.ts';
import { throwIfAborted } from '../../agent/unless-aborted.ts';
import { strictestMode } from '../../protocol/approvals/approval-modes.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { ApprovalMode, SandboxState, SandboxUse, SavedApproval } from '../../protocol/generated/vocabulary.ts';
import type { Run } from '../../session/run/run.ts';
import type { ApprovalSettings } from '../../store/approvals/approval-settings.ts';
import type { ApprovalsFile } from '../../store/approvals/approvals-file.ts';
import type { Dialogs } from '../dialogs.ts';
import type { CallFacts, CallSource } from './call-facts.ts';
import { DENIED_UNANSWERED, DENIED_UNASKED, type Decision, decide, deniedByUser, type Policy } from './decide.ts';
import { factsOf } from './facts-of-call.ts';
import { FilePolicy } from './file-policy.ts';
import { Grants } from './grants.ts';
import { type ProgramCheck, restrictsPath } from './match-rule.ts';
import { programCheck } from './program-check.ts';
import { type Answer, answerTo, type Question, questionAbout } from './question.ts';
import { type ApprovalRule, parseRules } from './rules.ts';
import type { SessionFolders, SessionSandbox } from './session-sandbox.ts';

/** The parts of the agent that approvals use. */
export interface ApprovalParts {
  readonly dialogs: Dialogs;
  readonly folders: () => SessionFolders;
  readonly modeOf: (run: Run | undefined) => ApprovalMode;
  readonly activeRun: () => Run | undefined;
  readonly settings: () => ApprovalSettings | undefined;
  readonly file: ApprovalsFile;
  readonly sourceOf: (toolName: string) => CallSource;
  readonly pathVariable: () => string;
  /** Stores which option answered a question. The entry grants nothing when it is read again. */
  readonly record: (answer: RecordedAnswer) => void;
  readonly stopRun: () => void;
  readonly warn: (messages: readonly string[]) => void;
  readonly sandbox: SessionSandbox;
}

export interface RecordedAnswer {
  readonly toolCallId?: string | undefined;
  readonly toolName: string;
  readonly option: string;
  readonly rule?: string | undefined;
}

/** The run of a call, and the signal that ends both. */
interface CallContext {
  readonly run: Run;
  readonly signal: AbortSignal;
}

interface OpenQuestion {
  readonly facts: CallFacts;
  readonly run: Run | undefined;
  /** Whether commands ran in a sandbox when the question was sent. */
  readonly isConfined: boolean;
  readonly settled: AbortController;
}

/** How long a question waits by default while no client can show it. */
const QUESTION_WAIT_MS = 600_000;

/** How many hosts are questioned at a time; connections to others are refused meanwhile. */
const MAX_HOST_QUESTIONS = 20;

/** Decides which tool calls of the model may run, and asks the user about the others. */
export class Approvals {
  readonly #parts: ApprovalParts;
  readonly #open = new Set<OpenQuestion>();
  /** The strictest limit of a run whose commands may still run in the sandbox. */
  #cellMode: ApprovalMode | undefined;
  #grants: Grants;
  #rules: Policy['rules'] | undefined;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
    this.#grants = new Grants(parts.folders().cwd);
    parts.sandbox.mayConnect = (host, port) => this.#mayConnect(host, port);
  }

  get sandboxState(): SandboxState {
    return this.#parts.sandbox.state;
  }

  /** The temporary folder of the sandbox, and its name inside. */
  get logFolder(): LogFolder | undefined {
    const { tmp } = this.#parts.sandbox;
    return tmp === undefined ? undefined : { path: tmp, shownPath: '/tmp' };
  }

  /** Finds out whether a sandbox works. Rejects if it is required and none does. */
  prepareSandbox(use: SandboxUse): Promise<void> {
    return this.#parts.sandbox.prepare(use);
  }

  /** Settles with what the call may reach; rejects with the error result of a call that may not run. */
  async permit({ call, tool, args }: FinalCall, { run, signal }: CallContext): Promise<Permission> {
    const { name: toolName } = tool;
    const source = this.#parts.sourceOf(toolName);
    const question = { toolCallId: call.id, toolName, source, args };
    const access = await this.#accessFor(question);
    const facts = factsOf({ toolName, source, args, cwd: this.#parts.folders().cwd, access });
    await this.#settle(facts, { run, signal, question, translate: access.translate });
    return this.#permissionOf(facts, access, this.#parts.modeOf(run));
  }

  /** The reach of a call that may run. */
  async #permissionOf({ source, toolName, subject }: CallFacts, access: FilePolicy, mode: ApprovalMode) {
    if (subject.type === 'write') access.approve(subject.path);
    // grep runs a program over files that commands of the model wrote.
    const isInside = subject.type === 'command' ? !subject.outside : toolName === 'grep';
    const { sandbox } = this.#parts;
    const confined =
      source === 'builtin' && isInside ? await sandbox.forCall({ readOnly: mode === 'plan' }) : undefined;
    if (confined && mode !== this.#parts.modeOf(undefined)) this.#cellMode = strictestMode(this.#cellMode, mode);
    const files = mode === 'full' && !this.#hasFileRules ? this.#translation(access) : access;
    return { ...(files ? { files } : {}), ...(confined ? { sandbox: confined } : {}) };
  }

  /** In the mode `full` with a sandbox, the file tools reach everything and share its `/tmp`. */
  #translation({ translate }: FilePolicy): FileAccess | undefined {
    return this.#parts.sandbox.isOn ? { translate, mayRead: () => true, mayWrite: () => true } : undefined;
  }

  /** A path below `/tmp` means the folder of the sandbox, which is made for it. */
  async #accessFor({ toolName, source, args }: Question['call']): Promise<FilePolicy> {
    const { sandbox, folders } = this.#parts;
    const { cwd } = folders();
    const { path } = args;
    if (sandbox.isOn && source === 'builtin' && typeof path === 'string' && /^@?\/tmp(\/|$)/.test(path))
      await sandbox.open();
    const { ask, deny } = this.#ruleLists;
    // A search asks about no single file: it leaves out what would be questioned.
    const rules = SEARCHES.has(toolName) ? [...deny, ...ask] : deny;
    return new FilePolicy({
      writable: sandbox.writable,
      // Below /proc lies the environment of this process, with its keys.
      hidden: () => [...sandbox.hidden, '/proc'],
      readable: sandbox.readable,
      replaced: sandbox.replaced,
      cwd,
      isReadDenied: (path) => rules.some((rule) => restrictsPath(rule, { toolName, path }, cwd)),
      tmp: sandbox.isOn ? sandbox.tmp : undefined,
    });
  }

  /** The approvals of the session and those saved for its project. */
  list(): SavedApproval[] {
    const { approvals } = this.#parts.file.list(this.#parts.folders().cwd);
    return [...this.#grants.rules.map((rule): SavedApproval => ({ rule, scope: 'session' })), ...approvals];
  }

  async remove(rule: string): Promise<void> {
    const wasGranted = this.#grants.remove(rule);
    const wasSaved = await this.#parts.file.remove(this.#parts.folders().cwd, rule);
    if (!wasGranted && !wasSaved) throw new Refusal('not_found', `There is no approval ${rule}`);
  }

  /**
   * Closes the questions that the new mode answers; those about another sandbox than that of now are sent again. In the
   * mode `plan` no process stays that may change files.
   */
  async onModeChanged(): Promise<void> {
    this.#settleAnswered();
    const { sandbox, modeOf, activeRun } = this.#parts;
    if (modeOf(activeRun()) === 'plan') await sandbox.endWritable();
  }

  /** Grants end with their session; settings are read again. */
  onSessionSwitched(): void {
    this.#grants = new Grants(this.#parts.folders().cwd);
    this.#rules = undefined;
    this.#cellMode = undefined;
    // The next session has a sandbox of its own, whether all files of this one could be removed or not.
    void this.#parts.sandbox.end().catch((error) => this.#parts.warn([messageOf(error)]));
  }

  async close(): Promise<void> {
    await this.#parts.sandbox.end();
  }

  get #settings(): ApprovalSettings | undefined {
    return this.#parts.settings();
  }

  get #hasFileRules(): boolean {
    const { ask, deny } = this.#ruleLists;
    return [...ask, ...deny].some(({ type }) => type === 'path');
  }

  get #ruleLists(): Policy['rules'] {
    this.#rules ??= this.#parseRules();
    return this.#rules;
  }

  #parseRules(): Policy['rules'] {
    const { home } = this.#parts.folders();
    const { allow = [], ask = [], deny = [] } = this.#settings?.approvals ?? {};
    const domains = (this.#settings?.sandbox.domains ?? []).map((host) => `network(${host})`);
    const parse = (texts: readonly string[], list: 'allow' | 'ask' | 'deny'): ApprovalRule[] => {
      const { rules, warnings } = parseRules(texts, { list, home });
      this.#parts.warn(warnings);
      return rules;
    };
    return { allow: parse([...allow, ...domains], 'allow'), ask: parse(ask, 'ask'), deny: parse(deny, 'deny') };
  }

  #decide(facts: CallFacts, run: Run | undefined): Decision {
    const { folders, file, sandbox, warn } = this.#parts;
    const { cwd, home } = folders();
    const saved = file.list(cwd);
    warn(saved.warnings);
    return decide(facts, {
      mode: this.#modeFor(facts, run),
      rules: this.#ruleLists,
      saved: parseRules(
        saved.approvals.map(({ rule }) => rule),
        { list: 'allow', home },
      ).rules,
      grants: this.#grants,
      cwd,
      isConfined: sandbox.isOn,
      isExternal: sandbox.state.status === 'external',
      isTrustedProgram: this.#programCheck,
    });
  }

  #modeFor({ subject }: CallFacts, run: Run | undefined): ApprovalMode {
    const mode = this.#parts.modeOf(run);
    // The connection may be that of a background job, of a run with a limit.
    return subject.type === 'host' ? (strictestMode(mode, this.#cellMode) ?? mode) : mode;
  }

  get #programCheck(): ProgramCheck {
    const { pathVariable, sandbox } = this.#parts;
    return programCheck({ path: pathVariable, writable: sandbox.writable, isLed: sandbox.isLed });
  }

  /** Settles when the call may run; rejects with its error result if it may not. */
  async #settle(facts: CallFacts, context: QuestionContext): Promise<void> {
    while (true) {
      const decision = this.#decide(facts, context.run);
      if (decision.kind === 'allow') return;
      if (decision.kind === 'deny') throw denied(decision.reason, 'rule');
      const answer = await this.#ask(facts, decision, context);
      if (answer === 'settled') continue;
      if (answer === 'unasked') throw denied(DENIED_UNASKED, 'nobody');
      if (answer === 'unanswered') throw denied(DENIED_UNANSWERED, 'nobody');
      await this.#apply(answer, facts, context);
      return;
    }
  }

  async #ask(
    facts: CallFacts,
    decision: Extract<Decision, { kind: 'ask' }>,
    { run, signal, question, translate }: QuestionContext,
  ): Promise<Answer | 'settled' | 'unasked' | 'unanswered'> {
    const { dialogs, modeOf, folders, sandbox } = this.#parts;
    if (!dialogs.isAnswerable('select')) return 'unasked';
    // A command that tries many hosts must not take all dialogs of the session.
    const isHost = facts.subject.type === 'host';
    const hostQuestions = [...this.#open].filter(({ facts: { subject } }) => subject.type === 'host');
    if (isHost && hostQuestions.length >= MAX_HOST_QUESTIONS) return 'unasked';
    const { cwd } = folders();
    const dialog = await questionAbout({
      call: question,
      facts,
      decision,
      mode: modeOf(run),
      cwd,
      translate,
      isConfined: sandbox.isOn,
      waitMs: this.#settings?.approvals.waitMs ?? QUESTION_WAIT_MS,
      isTrustedProgram: this.#programCheck,
    });
    const open: OpenQuestion = { facts, run, isConfined: sandbox.isOn, settled: new AbortController() };
    this.#open.add(open);
    try {
      let endedBy = 'agent';
      const response = await dialogs.open(dialog, {
        timeout: undefined,
        signal,
        settled: open.settled.signal,
        onEnd: (by) => {
          endedBy = by;
        },
      });
      // The end of the run is no answer: nothing is recorded.
      throwIfAborted(signal);
      if (open.settled.signal.aborted) return 'settled';
      return endedBy === 'client' ? answerTo(dialog, response) : 'unanswered';
    } finally {
      this.#open.delete(open);
    }
  }

  async #apply(
    { option, message, limit }: Answer,
    facts: CallFacts,
    { run, question }: QuestionContext,
  ): Promise<void> {
    const { kind, rule } = option;
    const { record, file, folders, stopRun } = this.#parts;
    record({ toolCallId: question.toolCallId, toolName: question.toolName, option: kind, rule });
    // The model reads the message as it reads one that steers.
    if (message !== undefined) run?.limitApprovals(limit);
    if (kind === 'reject_stop') {
      stopRun();
      // A background job goes on requesting hosts.
      if (!run) await this.#parts.sandbox.end();
    }
    if (kind === 'reject_stop' || kind === 'reject_once') throw denied(deniedByUser(message), 'client');
    if (kind === 'allow_session') this.#grants.add(facts);
    if (kind === 'allow_always' && rule !== undefined) await file.add(folders().cwd, rule);
    if (kind !== 'allow_once') this.#settleAnswered();
  }

  #settleAnswered(): void {
    const { isOn } = this.#parts.sandbox;
    for (const { facts, run, isConfined, settled } of [...this.#open])
      if (isConfined !== isOn || this.#decide(facts, run).kind !== 'ask') settled.abort();
  }

  /** Whether commands in the sandbox may connect to a host. */
  async #mayConnect(host: string, port: number): Promise<boolean> {
    const run = this.#parts.activeRun();
    const facts: CallFacts = { toolName: 'bash', source: 'builtin', subject: { type: 'host', host, port } };
    const question = { toolName: 'bash', source: 'builtin', args: {} } as const;
    try {
      await this.#settle(facts, { run, signal: run?.signal ?? NEVER, question, translate: (path) => path });
      return true;
    } catch {
      return false;
    }
  }
}

/** The context of a question beside the facts of its call. */
interface QuestionContext {
  readonly run: Run | undefined;
  readonly signal: AbortSignal;
  readonly question: Question['call'];
  readonly translate: (path: string) => string;
}

const SEARCHES: ReadonlySet<string> = new Set(['grep', 'find', 'ls']);

const NEVER = new AbortController().signal;

/** The error result of a call that may not run. `by`: what denied it. */
function denied(text: string, by: 'rule' | 'client' | 'nobody'): ToolError {
  return new ToolError({ ...textOutput(text), details: { denied: true, by } });
}

import { homedir } from 'node:os';
import type { Tool } from '../agent/tool.ts';
import type { ToolChoice } from '../agent/tool-choice.ts';
import { Toolbox } from '../agent/toolbox.ts';
import type { ShellOptions } from '../agent/tools/bash/shell.ts';
import type { Mode } from '../extend/extensions/extension-api.ts';
import type { Broadcast } from '../fanout/broadcast.ts';
import type { ModelRegistry } from '../model/registry/registry.ts';
import type { Preflight, SessionState } from '../protocol/generated/vocabulary.ts';
import type { PromptParts } from '../session/context/system-prompt.ts';
import type { SessionHooks, SessionStart } from '../session/hooks.ts';
import type { RequestedModel } from '../session/model-choice.ts';
import type { Session } from '../session/session.ts';
import type { SessionList } from '../store/sessions/listing/list-sessions.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Settings } from '../store/settings.ts';
import { CoalescedTask } from '../system/coalesced-task.ts';
import type { AddonOptions, AddonPaths } from './addons/detect.ts';
import { LazyAddons } from './addons/lazy-addons.ts';
import { publishChanges, stateOf, Warnings, whenIdle } from './agent-state.ts';
import { CurrentApprovals } from './approvals/current-approvals.ts';
import type { ApprovalPolicy } from './approvals/policy.ts';
import type { ClientConnection } from './client-connection.ts';
import { CurrentSession } from './current-session.ts';
import { ignoreErrors, withinGrace } from './grace-period.ts';
import { selectModel } from './models/model-selection.ts';
import { reselectModel } from './models/reselect-model.ts';
import { CurrentProject, type Project } from './project.ts';
import { SessionLane } from './session-lane.ts';
import { StartCommands } from './start-commands.ts';

export interface AgentParts {
  readonly broadcast: Broadcast;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agentDir: string;
  readonly addonOptions: AddonOptions;
  readonly mode: Mode;
  /** Whether only commands that read are accepted, and no add-on is loaded. */
  readonly readOnly?: boolean | undefined;
  /** Whether the client of this agent stores the entries too and confirms them. */
  readonly keptByHost?: boolean | undefined;
  /** The limits that flags and settings set in a project. */
  readonly policyFor: (project: Project) => Promise<ApprovalPolicy>;
  /** `trust`: the decision of a client for this process. */
  readonly projectFor: (cwd: string, trust: boolean | undefined) => Project;
  readonly tools: (shell: ShellOptions) => readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly shell: (project: Project) => ShellOptions;
  readonly promptParts: (project: Project) => Omit<PromptParts, 'skills'>;
  /** Undefined keeps new sessions in memory. */
  readonly sessionDirectory: (cwd: string) => string | undefined;
  readonly sessionList: () => Promise<SessionList>;
  readonly saveSettings: (values: Settings) => Promise<void>;
  readonly setApiKey: (provider: string, apiKey: string | undefined) => Promise<void>;
  /** Options of the command line override the stored choice of a session. */
  readonly requested: RequestedModel;
}

/** The first session of an agent and the project that it belongs to. */
export interface FirstSessionParts {
  readonly log: SessionLog;
  readonly project: Project;
  readonly policy: ApprovalPolicy;
}

interface Persistence {
  readonly persist?: boolean | undefined;
}

/** The one agent of this process: holds one session at a time, and everything that outlives a session switch. */
export class Agent {
  readonly broadcast: Broadcast;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly clients = new Set<ClientConnection>();
  readonly toolbox: Toolbox;
  readonly warnings: Warnings;
  readonly addons = new LazyAddons(this);
  readonly lane = new SessionLane();
  readonly startCommands = new StartCommands();
  readonly mode: Mode;
  readonly currentProject: CurrentProject;
  readonly currentSession: CurrentSession;
  readonly approvals: CurrentApprovals;
  readonly #parts: AgentParts;
  readonly #preflight = new CoalescedTask(async () => (await import('./diagnosis/preflight.ts')).preflight(this));
  #isStarted = false;
  #isStarting = false;
  #sessionList: Promise<SessionList> | undefined;
  #closing: Promise<void> | undefined;
  #resolveExit: () => void = () => {};
  /** Settles when an extension has requested the end of the process and the agent is idle. */
  readonly exitRequested = new Promise<void>((resolve) => {
    this.#resolveExit = resolve;
  });

  constructor(parts: AgentParts, { log, project, policy }: FirstSessionParts) {
    this.#parts = parts;
    this.warnings = new Warnings(parts.broadcast);
    this.broadcast = parts.broadcast;
    this.registry = parts.registry;
    this.hooks = parts.hooks;
    this.mode = parts.mode;
    this.currentProject = new CurrentProject(this, parts, project);
    this.approvals = new CurrentApprovals(this, policy, log);
    const { defaultTools: defaults } = this.project.settings;
    this.toolbox = new Toolbox(parts.tools(this.shell), { ...parts.toolChoice, defaults });
    this.currentSession = new CurrentSession(this, parts, log);
  }

  get session(): Session {
    return this.currentSession.session;
  }

  get project(): Project {
    return this.currentProject.project;
  }

  /** Directory for new sessions; undefined keeps them in memory. */
  get sessionDirectory(): string | undefined {
    return this.#parts.sessionDirectory(this.project.cwd);
  }

  /** Whether the agent accepts only commands that read. */
  get isReadOnly(): boolean {
    return this.#parts.readOnly === true;
  }

  /** Whether the client of this agent stores the entries too: then the agent stays in its session, or creates others. */
  get isKeptByHost(): boolean {
    return this.#parts.keptByHost === true;
  }

  get env(): Readonly<Record<string, string | undefined>> {
    return this.#parts.env;
  }

  get shell(): ShellOptions {
    const shell = this.#parts.shell(this.project);
    const { offersOutside: isConfined, logFolder } = this.approvals;
    return logFolder ? { ...shell, isConfined, logFolder } : shell;
  }

  get addonPaths(): AddonPaths {
    const { agentDir, addonOptions, env } = this.#parts;
    const { cwd, settings } = this.project;
    return { agentDir, options: addonOptions, home: env['HOME'] || homedir(), cwd, settings };
  }

  /** Runs the work; with `persist` it first saves the values as defaults of new sessions. */
  persistThen<T>(values: Settings, { persist = false }: Persistence, work: () => T | Promise<T>): T | Promise<T> {
    return persist ? this.#parts.saveSettings(values).then(work) : work();
  }

  /** Stores or removes an API key, and applies it as `onCredentialsChanged` does. */
  async setApiKey(provider: string, apiKey: string | undefined): Promise<void> {
    await this.#parts.setApiKey(provider, apiKey);
    await this.onCredentialsChanged();
  }

  /** Reloads the models; a missing model is selected if it is now usable. */
  async onCredentialsChanged(): Promise<void> {
    await this.registry.load({ anyway: true });
    const { unavailable } = this.session.choice;
    const found = unavailable && this.registry.find(unavailable.provider, unavailable.id);
    if (found) await selectModel(this, { model: found, source: 'set' });
  }

  /** Reselects the model after models were added or removed. */
  async onModelsChanged(): Promise<void> {
    // Providers name the variables that are hidden from tools.
    this.currentProject.use(this.project);
    await reselectModel(this);
  }

  get sessionList(): Promise<SessionList> {
    this.#sessionList ??= this.#parts.sessionList();
    return this.#sessionList;
  }

  get state(): SessionState {
    return stateOf(this);
  }

  /** Calls the start hooks once, when the first client can receive their events. */
  start(start: SessionStart = { reason: 'startup' }): Promise<void> | undefined {
    if (this.#isStarted) return undefined;
    this.#isStarted = true;
    const notify = () => ignoreErrors(() => this.hooks.sessionStart?.(start));
    const loaded = this.addons.start();
    const started = loaded === undefined ? notify() : loaded.then(() => (this.isClosing ? undefined : notify()));
    this.#isStarting = started !== undefined;
    return started?.finally(() => {
      this.#isStarting = false;
    });
  }

  /** Whether the start hooks, or the extensions before them, are not done. */
  get isStarting(): boolean {
    return this.#isStarting;
  }

  setName(name: string): void {
    publishChanges(this, () => this.session.transcript.append({ type: 'session_info', name }));
  }

  /** Ends the process once the agent is idle. */
  requestExit(): void {
    void whenIdle(this).then(() => this.#resolveExit());
  }

  preflight(): Promise<Preflight> {
    return this.#preflight.run();
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.addons.loaded?.dialogs.dismissAll('abort');
    await this.currentSession.stop();
    await withinGrace(ignoreErrors(() => this.hooks.sessionShutdown?.({ reason: 'quit' })));
    await withinGrace(this.addons.close());
    await withinGrace(this.approvals.close());
    await this.currentSession.close();
  }
}

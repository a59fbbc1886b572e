import { homedir } from 'node:os';
import type { Tool } from '../agent/tool.ts';
import type { ToolChoice } from '../agent/tool-choice.ts';
import { Toolbox } from '../agent/toolbox.ts';
import type { ShellOptions } from '../agent/tools/bash/shell.ts';
import type { Mode } from '../extend/extensions/extension-api.ts';
import type { Broadcast } from '../fanout/broadcast.ts';
import type { ModelRegistry } from '../model/registry/registry.ts';
import { Refusal } from '../protocol/errors.ts';
import type { AgentEvent, Preflight, SessionState, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { PromptParts } from '../session/context/system-prompt.ts';
import type { SessionHooks, SessionStart } from '../session/hooks.ts';
import {
  clampLevel,
  firstModel,
  type ModelName,
  recordChoice,
  storedChoice,
  type UnresolvedModel,
} from '../session/model-choice.ts';
import { repairToolCalls } from '../session/repair.ts';
import { Session } from '../session/session.ts';
import { autoFeaturesFrom, deliveryModesFrom } from '../session/session-modes.ts';
import { recoverCommands } from '../session/shell-commands.ts';
import type { SessionList } from '../store/sessions/listing/list-sessions.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Settings } from '../store/settings.ts';
import type { AddonOptions, AddonPaths } from './addons/detect.ts';
import { LazyAddons } from './addons/lazy-addons.ts';
import { publishChanges, publishStateSince, stateOf, whenIdle } from './agent-state.ts';
import type { ClientConnection } from './client-connection.ts';
import { CoalescedTask } from './coalesced-task.ts';
import { ignoreErrors, withinGrace } from './grace-period.ts';
import { selectModel } from './models/model-selection.ts';
import { loadStoredModel, openingEvents, type PreparedSession } from './prepared-session.ts';
import { CurrentProject, type Project } from './project.ts';
import { SessionLane } from './session-lane.ts';

export interface AgentParts {
  readonly broadcast: Broadcast;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agentDir: string;
  readonly addonOptions: AddonOptions;
  readonly mode: Mode;
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
  readonly requested: {
    readonly model?: ModelName | undefined;
    readonly unresolved?: UnresolvedModel | undefined;
    readonly thinkingLevel?: ThinkingLevel | undefined;
  };
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
  readonly addons = new LazyAddons(this);
  readonly lane = new SessionLane();
  readonly mode: Mode;
  readonly currentProject: CurrentProject;
  readonly #parts: AgentParts;
  readonly #preflight = new CoalescedTask(async () => (await import('./diagnosis/preflight.ts')).preflight(this));
  #session: Session;
  #openingEvents: AgentEvent[];
  #isStarted = false;
  #sessionList: Promise<SessionList> | undefined;
  #switching: Promise<void> | undefined;
  readonly #closingSessions = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;
  #resolveExit: () => void = () => {};
  /** Settles when an extension has requested the end of the process and the agent is idle. */
  readonly exitRequested = new Promise<void>((resolve) => {
    this.#resolveExit = resolve;
  });

  constructor(parts: AgentParts, first: SessionLog) {
    this.#parts = parts;
    this.broadcast = parts.broadcast;
    this.registry = parts.registry;
    this.hooks = parts.hooks;
    this.mode = parts.mode;
    this.currentProject = new CurrentProject(this, parts, first.header.cwd);
    this.toolbox = new Toolbox(parts.tools(this.shell), parts.toolChoice);
    const prepared = this.#buildSession(first, undefined);
    this.#session = prepared.session;
    this.#openingEvents = openingEvents(prepared);
  }

  get session(): Session {
    return this.#session;
  }

  get project(): Project {
    return this.currentProject.project;
  }

  /** Directory for new sessions; undefined keeps them in memory. */
  get sessionDirectory(): string | undefined {
    return this.#parts.sessionDirectory(this.project.cwd);
  }

  get env(): Readonly<Record<string, string | undefined>> {
    return this.#parts.env;
  }

  get shell(): ShellOptions {
    return this.#parts.shell(this.project);
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

  /** Stores or removes an API key and reloads the models; a missing model is selected if it is now usable. */
  async setApiKey(provider: string, apiKey: string | undefined): Promise<void> {
    await this.#parts.setApiKey(provider, apiKey);
    await this.registry.load({ anyway: true });
    const { unavailable } = this.session.choice;
    const found = unavailable && this.registry.find(unavailable.provider, unavailable.id);
    if (found) await selectModel(this, { model: found, source: 'set' });
  }

  /** Reselects the model after models were added or removed. */
  async onModelsChanged(): Promise<void> {
    const { reselectModel } = await import('./models/reselect-model.ts');
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

  /** Events about the opening of the first session, for the first client. */
  takeOpeningEvents(): AgentEvent[] {
    return this.#openingEvents.splice(0);
  }

  /** Calls the start hooks once, when the first client can receive their events. */
  start(start: SessionStart = { reason: 'startup' }): Promise<void> | undefined {
    if (this.#isStarted) return undefined;
    this.#isStarted = true;
    const notify = () => ignoreErrors(() => this.hooks.sessionStart?.(start));
    const loaded = this.addons.start();
    return loaded === undefined ? notify() : loaded.then(() => (this.#closing === undefined ? notify() : undefined));
  }

  /** Prepares another session. A failure leaves the current session unchanged. */
  async prepareSession(log: SessionLog): Promise<PreparedSession> {
    await loadStoredModel(this.registry, log);
    await this.addons.prepareFor(log);
    return this.#buildSession(log, this.#session);
  }

  /** Switches to another session. The run of the old session must have ended. */
  switchTo(prepared: PreparedSession, reason: 'new' | 'resume' | 'fork'): Promise<void> {
    if (this.#closing !== undefined) throw new Refusal('overloaded', 'The agent is shutting down');
    this.#switching = this.#switch(prepared, reason);
    return this.#switching;
  }

  async #switch(prepared: PreparedSession, reason: 'new' | 'resume' | 'fork'): Promise<void> {
    const previous = this.#session;
    const { log } = prepared.session;
    await withinGrace(ignoreErrors(() => this.hooks.sessionShutdown?.({ reason, targetSessionFile: log.path })));
    // Stops shell commands that clients started after the run ended.
    await previous.shell.close();
    const before = this.state;
    this.#session = prepared.session;
    this.currentProject.use(prepared.project);
    const finishedFeeds = [...this.clients].map(({ feed }) => feed?.restart(log));
    publishStateSince(this, before);
    for (const event of openingEvents(prepared, previous)) this.broadcast.publish(event);
    // The switch is done: the old session can neither fail nor delay it any more.
    await withinGrace(this.#releaseSession(previous, Promise.all(finishedFeeds)));
    await ignoreErrors(() => this.addons.onSessionSwitched());
    await ignoreErrors(() => this.hooks.sessionStart?.({ reason, previousSessionFile: previous.log.path }));
  }

  /** Closes the log of the previous session once all entry feeds have finished with it. */
  #releaseSession({ log }: Session, finishedFeeds: Promise<unknown>): Promise<void> {
    const closed = finishedFeeds.then(() => log.close()).catch(() => {});
    this.#closingSessions.add(closed);
    return closed.finally(() => this.#closingSessions.delete(closed));
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

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.addons.dismissDialogs();
    await this.#session.stop();
    await withinGrace(this.#switching);
    await withinGrace(ignoreErrors(() => this.hooks.sessionShutdown?.({ reason: 'quit' })));
    await withinGrace(this.addons.close());
    await this.#session.shell.close();
    await this.#session.log.close();
    await withinGrace(Promise.all(this.#closingSessions).then(() => {}));
  }

  #buildSession(log: SessionLog, previous: Session | undefined): PreparedSession {
    const project = this.currentProject.forFolder(log.header.cwd);
    const repaired = repairToolCalls(log);
    recoverCommands(log);
    const session = this.#createSession(log, project, previous);
    if (isNewSession(log)) recordChoice(log, session.choice);
    return { session, project, repaired };
  }

  #createSession(log: SessionLog, project: Project, previous: Session | undefined): Session {
    const { broadcast, registry, hooks, shell, promptParts } = this.#parts;
    return new Session({
      log,
      events: broadcast,
      registry,
      hooks,
      tools: () => this.toolbox.active,
      shell: () => shell(project),
      promptParts: () => ({ ...promptParts(project), skills: this.addons.skills }),
      settings: () => project.settings,
      choice: this.#initialChoice(log, project, previous),
      modes: previous ? { ...previous.modes } : deliveryModesFrom(project.settings),
      automatic: previous ? { ...previous.automatic } : autoFeaturesFrom(project.settings),
    });
  }

  #initialChoice(log: SessionLog, { settings }: Project, previous: Session | undefined) {
    const stored = storedChoice(log);
    const requested = previous ? undefined : this.#parts.requested;
    const kept = previous && !stored.model ? { ...previous.choice, level: previous.choice.thinkingLevel } : undefined;
    const { level, ...choice } =
      kept ??
      firstModel(this.registry, {
        named: requested?.model,
        unresolved: requested?.unresolved,
        stored: stored.model,
        settings,
      });
    const requestedLevel =
      requested?.thinkingLevel ?? stored.thinkingLevel ?? level ?? settings.defaultThinkingLevel ?? 'medium';
    return { ...choice, thinkingLevel: clampLevel(choice.model, requestedLevel) };
  }
}

const isNewSession = (log: SessionLog) => log.size === log.count('session_info');

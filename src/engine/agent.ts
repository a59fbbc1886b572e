import { homedir } from 'node:os';
import type { Tool } from '../agent/tool.ts';
import type { ToolChoice } from '../agent/tool-choice.ts';
import { Toolbox } from '../agent/toolbox.ts';
import type { ShellOptions } from '../agent/tools/shell.ts';
import type { Mode } from '../extend/extensions/extension-api.ts';
import type { ModelRegistry } from '../model/registry/registry.ts';
import { Refusal } from '../protocol/errors.ts';
import type { AgentEvent, Model, Preflight, SessionState, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { SessionHooks, SessionStart } from '../session/hooks.ts';
import {
  type UnresolvedModel,
  clampLevel,
  firstModel,
  type ModelName,
  recordChoice,
  storedChoice,
} from '../session/model-choice.ts';
import { repairToolCalls } from '../session/repair.ts';
import { Session } from '../session/session.ts';
import { autoFeaturesFrom, deliveryModesFrom } from '../session/session-modes.ts';
import { recoverCommands } from '../session/shell-commands.ts';
import type { PromptParts } from '../session/context/system-prompt.ts';
import type { SessionList } from '../store/sessions/listing/list-sessions.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Settings } from '../store/settings.ts';
import type { Broadcast } from '../wire/broadcast.ts';
import type { Surroundings } from './additions/sign.ts';
import type { AdditionWishes } from './additions/wishes.ts';
import { Additions } from './additions.ts';
import { type Arrival, knowStored, newsOf } from './arrival.ts';
import type { Connection } from './connection.ts';
import { idle } from './idle.ts';
import { SessionLane } from './lanes.ts';
import { placeOf } from './models.ts';
import { heard, soon } from './patience.ts';
import type { Project } from './project.ts';
import { SharedTurns } from './shared-turns.ts';
import { stateOf } from './state.ts';

export interface AgentParts {
  readonly audience: Broadcast;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agentDir: string;
  readonly wishes: AdditionWishes;
  readonly mode: Mode;
  /** `decided`: what a client said of the folder for this process. */
  readonly projectIn: (cwd: string, decided: boolean | undefined) => Project;
  /** The built-in tools for a folder. */
  readonly tools: (shell: ShellOptions) => readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly shell: (project: Project) => ShellOptions;
  readonly promptParts: (project: Project) => Omit<PromptParts, 'skills'>;
  /** Where new sessions of a folder go; undefined: they stay in memory. */
  readonly sessionDirectory: (cwd: string) => string | undefined;
  /** Looks at what is stored. */
  readonly sessionList: () => Promise<SessionList>;
  /** Writes into the user's settings. */
  readonly remember: (values: Settings) => Promise<void>;
  /** Stores the key of a provider, or removes the one that is stored. */
  readonly changeKey: (provider: string, apiKey: string | undefined) => Promise<void>;
  /** What was named on the command line; it wins over what a session remembers. */
  readonly named: {
    readonly model?: ModelName | undefined;
    readonly awaited?: UnresolvedModel | undefined;
    readonly thinkingLevel?: ThinkingLevel | undefined;
  };
}

/** Whether something is to count for new sessions too. */
interface Persistence {
  readonly persist?: boolean | undefined;
}

/** The one agent of this process: a session at a time, and what outlives a change of session. */
export class Agent {
  readonly audience: Broadcast;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly clients = new Set<Connection>();
  readonly toolbox: Toolbox;
  readonly additions = new Additions(this);
  readonly lane = new SessionLane();
  readonly mode: Mode;
  readonly #parts: AgentParts;
  readonly #trust = new Map<string, boolean>();
  readonly #preflight = new SharedTurns(async () => (await import('./diagnosis/preflight.ts')).preflight(this));
  #session: Session;
  #project: Project;
  #news: AgentEvent[];
  #isStarted = false;
  #sessionList: Promise<SessionList> | undefined;
  #moving: Promise<void> | undefined;
  readonly #leaving = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;
  #leave: () => void = () => {};
  /** Settles when somebody inside wants the process to end, and nothing is being done any more. */
  readonly left = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });

  constructor(parts: AgentParts, first: SessionLog) {
    this.#parts = parts;
    this.audience = parts.audience;
    this.registry = parts.registry;
    this.hooks = parts.hooks;
    this.mode = parts.mode;
    const arrival = this.#arrival(first, undefined);
    this.toolbox = new Toolbox(parts.tools(parts.shell(arrival.project)), parts.toolChoice);
    this.#session = arrival.session;
    this.#project = arrival.project;
    this.#news = newsOf(arrival);
  }

  get session(): Session {
    return this.#session;
  }

  /** The folder of the session, with its settings. */
  get project(): Project {
    return this.#project;
  }

  /** Where new sessions go; undefined: they stay in memory. */
  get sessionDirectory(): string | undefined {
    return this.#parts.sessionDirectory(this.project.cwd);
  }

  get env(): Readonly<Record<string, string | undefined>> {
    return this.#parts.env;
  }

  /** How commands are run in the folder of the session. */
  get shell(): ShellOptions {
    return this.#parts.shell(this.#project);
  }

  /** Where to look for what others add to the agent. */
  get surroundings(): Surroundings {
    const { agentDir, wishes, env } = this.#parts;
    const { cwd, settings } = this.#project;
    return { agentDir, wishes, home: env['HOME'] || homedir(), cwd, settings };
  }

  /** Does something; where it is to `persist` it becomes the default of new sessions first, or nothing is done. */
  keeping<T>(values: Settings, { persist = false }: Persistence, work: () => T | Promise<T>): T | Promise<T> {
    return persist ? this.#parts.remember(values).then(work) : work();
  }

  /** Stores a key or removes one, and learns what can be used then: a model that was missed is used from now on. */
  async changeKey(provider: string, apiKey: string | undefined): Promise<void> {
    await this.#parts.changeKey(provider, apiKey);
    await this.registry.load({ anyway: true });
    const { unavailable } = this.session.choice;
    const found = unavailable && this.registry.find(unavailable.provider, unavailable.id);
    if (found) await this.setModel(found, 'set');
  }

  /** Models came or went: one that was missed is used from now on, and one that is gone is missed. */
  async modelsChanged(): Promise<void> {
    const { reconsiderModel } = await import('./reconsider-model.ts');
    // What tools may know of the environment depends on what providers call their secrets.
    this.#takeProject(this.#project);
    await reconsiderModel(this);
  }

  /** What is stored; loaded when somebody first asks for it. */
  get sessionList(): Promise<SessionList> {
    this.#sessionList ??= this.#parts.sessionList();
    return this.#sessionList;
  }

  get state(): SessionState {
    return stateOf(this);
  }

  /** What opening the first session brought to light, for the first client. */
  takeNews(): AgentEvent[] {
    return this.#news.splice(0);
  }

  /** Tells the hooks, once, that the first session has begun: when the first client can hear what they say. */
  start(how: SessionStart = { reason: 'startup' }): Promise<void> | undefined {
    if (this.#isStarted) return undefined;
    this.#isStarted = true;
    const tell = () => heard(() => this.hooks.sessionStart?.(how));
    const loaded = this.additions.start();
    return loaded === undefined ? tell() : loaded.then(() => (this.#closing === undefined ? tell() : undefined));
  }

  /** Makes everything ready to go over to another session. Whatever fails here leaves the present one as it is. */
  async prepare(log: SessionLog): Promise<Arrival> {
    await knowStored(this.registry, log);
    await this.additions.prepare(log);
    return this.#arrival(log, this.#session);
  }

  /** Goes over to another session. A run of the old one must have ended. */
  enter(arrival: Arrival, reason: 'new' | 'resume' | 'fork'): Promise<void> {
    if (this.#closing !== undefined) throw new Refusal('overloaded', 'The agent is shutting down');
    this.#moving = this.#move(arrival, reason);
    return this.#moving;
  }

  async #move(arrival: Arrival, reason: 'new' | 'resume' | 'fork'): Promise<void> {
    const previous = this.#session;
    const { log } = arrival.session;
    await soon(heard(() => this.hooks.sessionShutdown?.({ reason, targetSessionFile: log.path })));
    // Whatever a client has started since the run was stopped.
    await previous.shell.close();
    const before = this.state;
    this.#session = arrival.session;
    this.#takeProject(arrival.project);
    const left = [...this.clients].map(({ feed }) => feed?.restart(log));
    this.announce(before);
    for (const event of newsOf(arrival, previous)) this.audience.publish(event);
    // The agent is in the new session already: nothing about the old one can fail the move, nor hold it up for long.
    await soon(this.#letGo(previous, Promise.all(left)));
    await heard(() => this.additions.entered());
    await heard(() => this.hooks.sessionStart?.({ reason, previousSessionFile: previous.log.path }));
  }

  /** Closes a session that was left, once nobody reads in it any more. */
  #letGo({ log }: Session, unread: Promise<unknown>): Promise<void> {
    const closed = unread.then(() => log.close()).catch(() => {});
    this.#leaving.add(closed);
    return closed.finally(() => this.#leaving.delete(closed));
  }

  /** Tells clients which fields of the state differ from before. */
  announce(before: SessionState): void {
    const after = this.state;
    const names = Object.keys({ ...before, ...after }) as (keyof SessionState)[];
    const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    if (before.sessionName !== after.sessionName) {
      this.audience.publish({ type: 'session_info_changed', name: after.sessionName });
      void heard(() => this.hooks.nameChange?.(after.sessionName));
    }
    if (before.thinkingLevel !== after.thinkingLevel) {
      this.audience.publish({ type: 'thinking_level_changed', level: after.thinkingLevel });
    }
    if (changed.length === 0) return;
    const state = Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
    this.audience.publish({ type: 'state_changed', state });
  }

  /** Does something that may change the state, and tells clients what it changed. */
  change<T>(work: () => T): T {
    const before = this.state;
    const result = work();
    this.announce(before);
    return result;
  }

  /** Settles when the hooks have heard of it, if any wants to; the change itself is made at once. */
  setModel(model: Model, source: 'set' | 'cycle' | 'restore', wanted?: ThinkingLevel): Promise<void> | undefined {
    const { session } = this;
    const { model: previousModel, thinkingLevel: previousLevel } = session.choice;
    const level = clampLevel(model, wanted ?? this.#levelAfter(previousModel, previousLevel));
    const choice = { model, thinkingLevel: level };
    this.change(() => {
      // What was chosen before is stored already.
      if (source !== 'restore') recordChoice(session.transcript, choice, previousLevel);
      session.choice = choice;
    });
    const told = heard(() => this.hooks.modelSelect?.({ model, previousModel, source }));
    return told === undefined ? this.#tellLevel(previousLevel) : told.then(() => this.#tellLevel(previousLevel));
  }

  setThinkingLevel(wanted: ThinkingLevel): Promise<void> | undefined {
    const { session } = this;
    const { model, thinkingLevel: previousLevel } = session.choice;
    const thinkingLevel = clampLevel(model, wanted);
    if (thinkingLevel === previousLevel) return undefined;
    this.change(() => {
      session.transcript.append({ type: 'thinking_level_change', thinkingLevel });
      session.choice = { ...session.choice, thinkingLevel };
    });
    return this.#tellLevel(previousLevel);
  }

  /** Names the session, for listings. */
  setName(name: string): void {
    this.change(() => this.session.transcript.append({ type: 'session_info', name }));
  }

  /** Trusts the project or not; its settings, and the tools made from them, follow at once. */
  async setTrust(verdict: { trusted: boolean; remember: boolean }): Promise<void> {
    await this.decideTrust(verdict);
    await heard(() => this.additions.trustChanged());
  }

  /** Reads the settings of the project again, and makes the tools anew from them. */
  refreshProject(): void {
    this.change(() => {
      this.project.refresh();
      this.#takeProject(this.project);
    });
  }

  /** The same without a look at what the project adds to the agent. */
  async decideTrust({ trusted, remember }: { trusted: boolean; remember: boolean }): Promise<void> {
    if (remember) await this.project.remember(trusted);
    this.change(() => {
      this.project.setTrust(trusted);
      this.#trust.set(this.project.cwd, trusted);
      this.#takeProject(this.project);
    });
  }

  /** Ends the process once nothing is being done. */
  leave(): void {
    void idle(this).then(() => this.#leave());
  }

  /** What stands in the way of a prompt. */
  preflight(): Promise<Preflight> {
    return this.#preflight.take();
  }

  /** Stops everything and lets go of the session. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.additions.abort();
    await this.#session.stop();
    await soon(this.#moving);
    await soon(heard(() => this.hooks.sessionShutdown?.({ reason: 'quit' })));
    await soon(this.additions.close());
    await this.#session.shell.close();
    await this.#session.log.close();
    await soon(Promise.all(this.#leaving).then(() => {}));
  }

  /** A model that does not think leaves no trace of how much the one before it did: then the usual level counts. */
  #levelAfter(previous: Model | null, level: ThinkingLevel): ThinkingLevel {
    return previous && !previous.reasoning ? (this.project.settings.defaultThinkingLevel ?? 'medium') : level;
  }

  #tellLevel(previousLevel: ThinkingLevel): Promise<void> | undefined {
    const { thinkingLevel: level } = this.#session.choice;
    return level === previousLevel
      ? undefined
      : heard(() => this.hooks.thinkingLevelSelect?.({ level, previousLevel }));
  }

  /** The tools are those of the folder and of its settings. */
  #takeProject(project: Project): void {
    this.#project = project;
    this.registry.folderOptions = placeOf(project);
    this.toolbox.putOwn(this.#parts.tools(this.#parts.shell(project)));
  }

  #arrival(log: SessionLog, previous: Session | undefined): Arrival {
    const { cwd } = log.header;
    const isHere = previous !== undefined && this.#project.cwd === cwd;
    const project = isHere ? this.#project : this.#parts.projectIn(cwd, this.#trust.get(cwd));
    const repaired = repairToolCalls(log);
    recoverCommands(log);
    const session = this.#sessionOn(log, project, previous);
    if (isFresh(log)) recordChoice(log, session.choice);
    return { session, project, repaired };
  }

  #sessionOn(log: SessionLog, project: Project, previous: Session | undefined): Session {
    const { audience, registry, hooks, shell, promptParts } = this.#parts;
    return new Session({
      log,
      events: audience,
      registry,
      hooks,
      tools: () => this.toolbox.active,
      shell: () => shell(project),
      promptParts: () => ({ ...promptParts(project), skills: this.additions.skills }),
      settings: () => project.settings,
      choice: this.#choiceFor(log, project, previous),
      modes: previous ? { ...previous.modes } : deliveryModesFrom(project.settings),
      automatic: previous ? { ...previous.automatic } : autoFeaturesFrom(project.settings),
    });
  }

  #choiceFor(log: SessionLog, { settings }: Project, previous: Session | undefined) {
    const stored = storedChoice(log);
    const named = previous ? undefined : this.#parts.named;
    const kept = previous && !stored.model ? { ...previous.choice, level: previous.choice.thinkingLevel } : undefined;
    const { level, ...choice } =
      kept ??
      firstModel(this.registry, { named: named?.model, unresolved: named?.awaited, stored: stored.model, settings });
    const wanted = named?.thinkingLevel ?? stored.thinkingLevel ?? level ?? settings.defaultThinkingLevel ?? 'medium';
    return { ...choice, thinkingLevel: clampLevel(choice.model, wanted) };
  }
}

const isFresh = (log: SessionLog) => log.size === log.count('session_info');

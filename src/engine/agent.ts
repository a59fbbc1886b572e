import type { Tool } from '../agent/tool.ts';
import type { ModelRegistry } from '../model/registry.ts';
import type { AgentEvent, Model, SessionState, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../session/hooks.ts';
import { chooseModel, clamped, type ModelName, storedChoice } from '../session/model-choice.ts';
import { repairToolCalls } from '../session/repair.ts';
import { type Modes, Session } from '../session/session.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Broadcast } from '../wire/broadcast.ts';
import type { Project } from './project.ts';
import { stateOf } from './state.ts';

export interface AgentParts {
  readonly audience: Broadcast;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly projectIn: (cwd: string) => Project;
  readonly tools: (project: Project) => readonly Tool[];
  /** Where new sessions of a folder go; undefined: they stay in memory. */
  readonly sessionDirectory: (cwd: string) => string | undefined;
  /** What was named on the command line; it wins over what a session remembers. */
  readonly named: { readonly model?: ModelName | undefined; readonly thinkingLevel?: ThinkingLevel | undefined };
}

/** The one agent of this process: a session at a time, and what outlives a change of session. */
export class Agent {
  readonly audience: Broadcast;
  readonly registry: ModelRegistry;
  readonly hooks: SessionHooks;
  readonly #parts: AgentParts;
  readonly #news: AgentEvent[] = [];
  #session: Session | undefined;
  #project: Project | undefined;

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.audience = parts.audience;
    this.registry = parts.registry;
    this.hooks = parts.hooks;
  }

  get session(): Session {
    if (!this.#session) throw new Error('No session is open');
    return this.#session;
  }

  /** The folder of the session, with its settings. */
  get project(): Project {
    if (!this.#project) throw new Error('No session is open');
    return this.#project;
  }

  /** Where new sessions go; undefined: they stay in memory. */
  get sessionDirectory(): string | undefined {
    return this.#parts.sessionDirectory(this.project.cwd);
  }

  get state(): SessionState {
    return stateOf(this);
  }

  /** What opening the first session brought to light, for the first client. */
  takeNews(): AgentEvent[] {
    return this.#news.splice(0);
  }

  /** Goes over to another session. A run of the old one must have ended. */
  async enter(log: SessionLog, reason: 'startup' | 'new' | 'resume' | 'fork'): Promise<void> {
    const previous = this.#session;
    const before = previous ? this.state : undefined;
    const { cwd } = log.header;
    if (this.#project?.cwd !== cwd) this.#project = this.#parts.projectIn(cwd);
    const toolCallIds = repairToolCalls(log);
    const session = this.#sessionOn(log, previous);
    if (isFresh(log)) recordChoice(session);
    if (previous) await this.hooks.sessionShutdown?.(reason === 'startup' ? 'quit' : reason);
    this.#session = session;
    await previous?.log.close();
    this.#announceEntries();
    if (before) this.announce(before);
    const tell = (event: AgentEvent) => (previous ? this.audience.publish(event) : this.#news.push(event));
    if (toolCallIds.length > 0 || log.tornBytes > 0) {
      const { id: sessionId } = log.header;
      tell({ type: 'session_repaired', sessionId, toolCallIds, tornBytes: log.tornBytes });
    }
    if (session.queue.length > 0 || previous?.queue.length) tell(session.queue.update());
    await this.hooks.sessionStart?.(reason);
  }

  /** Tells clients which fields of the state differ from before. */
  announce(before: SessionState): void {
    const after = this.state;
    const names = Object.keys({ ...before, ...after }) as (keyof SessionState)[];
    const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    if (before.sessionName !== after.sessionName) {
      this.audience.publish({ type: 'session_info_changed', name: after.sessionName });
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

  setModel(model: Model): void {
    const { session } = this;
    const previous = session.choice.model;
    this.change(() => {
      const thinkingLevel = clamped(model, session.choice.thinkingLevel);
      const kept = session.choice.thinkingLevel;
      session.transcript.append({ type: 'model_change', provider: model.provider, modelId: model.id });
      if (thinkingLevel !== kept) session.transcript.append({ type: 'thinking_level_change', thinkingLevel });
      session.choice = { model, thinkingLevel };
    });
    void this.hooks.modelSelect?.(model, previous);
  }

  setThinkingLevel(wanted: ThinkingLevel): void {
    const { session } = this;
    const thinkingLevel = clamped(session.choice.model, wanted);
    if (thinkingLevel === session.choice.thinkingLevel) return;
    this.change(() => {
      session.transcript.append({ type: 'thinking_level_change', thinkingLevel });
      session.choice = { ...session.choice, thinkingLevel };
    });
  }

  /** Trusts the project or not; its settings, and the tools made from them, follow at once. */
  setTrust(trust: { trusted: boolean; remember: boolean }): void {
    this.change(() => {
      this.project.setTrust(trust.trusted, { remember: trust.remember });
      this.session.tools = this.#parts.tools(this.project);
    });
  }

  /** Stops everything and lets go of the session. */
  async close(): Promise<void> {
    await this.#session?.abort();
    await this.hooks.sessionShutdown?.('quit');
    await this.#session?.log.close();
  }

  #sessionOn(log: SessionLog, previous: Session | undefined): Session {
    const { audience, registry, hooks, tools } = this.#parts;
    return new Session({
      log,
      audience,
      registry,
      hooks,
      tools: tools(this.project),
      choice: this.#choiceFor(log, previous),
      modes: previous ? { ...previous.modes } : this.#defaultModes(),
    });
  }

  #choiceFor(log: SessionLog, previous: Session | undefined) {
    const stored = storedChoice(log);
    const { settings } = this.project;
    const usual =
      settings.defaultProvider && settings.defaultModel
        ? { provider: settings.defaultProvider, id: settings.defaultModel }
        : undefined;
    const named = previous ? undefined : this.#parts.named;
    const kept = previous && !stored.model ? previous.choice : undefined;
    const { model, notice } = kept ?? chooseModel(this.registry, named?.model ?? stored.model ?? usual);
    const wanted =
      named?.thinkingLevel ?? stored.thinkingLevel ?? kept?.thinkingLevel ?? settings.defaultThinkingLevel ?? 'medium';
    return { model, notice, thinkingLevel: clamped(model, wanted) };
  }

  #defaultModes(): Modes {
    const { steeringMode, followUpMode, interruptMode } = this.project.settings;
    return {
      steering: steeringMode ?? 'one-at-a-time',
      followUp: followUpMode ?? 'one-at-a-time',
      interrupt: interruptMode ?? 'wait',
    };
  }

  /** Whoever follows the entries gets those of the new session from the beginning. */
  #announceEntries(): void {
    if (!this.audience.wantsEntries) return;
    const { log } = this.session;
    this.audience.publish({ type: 'entry_appended', entry: log.header });
    for (const entry of log.entries()) this.audience.publish({ type: 'entry_appended', entry });
  }
}

const isFresh = (log: SessionLog) => log.size === log.count('session_info');

/** A new session says at its start which model and thinking level it begins with. */
function recordChoice({ transcript, choice }: Session): void {
  if (choice.model) {
    transcript.log.append({ type: 'model_change', provider: choice.model.provider, modelId: choice.model.id });
  }
  transcript.log.append({ type: 'thinking_level_change', thinkingLevel: choice.thinkingLevel });
}

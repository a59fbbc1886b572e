import type { Agent } from '../engine/agent.ts';
import { whenIdle } from '../engine/agent-state.ts';
import { type CommandContext, executeCommand, type Handler } from '../engine/dispatch.ts';
import type { Engine } from '../engine/open.ts';
import type { CommandName, Params, Result } from '../protocol/generated/vocabulary.ts';
import type { SessionStart } from '../session/hooks.ts';
import type { Run } from '../session/run/run.ts';
import { EmbedderUi } from './embedder-ui.ts';
import { SessionEventEmitter } from './session-events.ts';

/** The engine and the in-process client that all parts of an `AgentSession` work with. */
export class EmbedContext {
  readonly engine: Engine;
  readonly events: SessionEventEmitter;
  readonly ui: EmbedderUi;
  readonly #loadErrors = new Map<string, string>();
  readonly #start: SessionStart | undefined;
  readonly #onClose: (() => void)[] = [];
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, start: SessionStart | undefined) {
    this.engine = engine;
    this.#start = start;
    this.events = new SessionEventEmitter(engine.agent);
    this.ui = new EmbedderUi(engine.agent);
    this.events.subscribe((event) => {
      if (event.type === 'extension_error' && event.event === 'load')
        this.#loadErrors.set(event.extensionPath, event.error);
    });
  }

  get agent(): Agent {
    return this.engine.agent;
  }

  /** Starts the session once, before its first command. Session commands wait for it. */
  begin(): void {
    const { agent, events } = this;
    for (const event of [...agent.currentSession.takeOpeningEvents(), ...agent.warnings.takeEarly()]) {
      events.publish({ event });
    }
    agent.lane.holdUntil(agent.start(this.#start));
  }

  /** Executes a command like one from a client. */
  perform<C extends CommandName>(
    name: C,
    params: Params<C>,
    { handler, input }: { readonly handler?: Handler<C>; readonly input?: CommandContext['input'] } = {},
  ): Promise<Result<C>> {
    this.begin();
    const { agent, ui } = this;
    const defined = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
    const target = { agent, connection: ui.connection, lane: agent.lane, input };
    return executeCommand(name, defined as Params<C>, target, handler);
  }

  get loadErrors(): { path: string; error: string }[] {
    return [...this.#loadErrors].map(([path, error]) => ({ path, error }));
  }

  /** Runs work that has no command in the session lane. */
  async runInLane<T>(work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    this.begin();
    const { lane } = this.agent;
    const { signal } = lane;
    return lane.run(() => work(signal));
  }

  /** Reloads all addons of the agent. */
  reload(): Promise<void> {
    return this.runInLane(async () => {
      this.#loadErrors.clear();
      await (await this.agent.addons.ensureLoaded()).reload();
    });
  }

  /** Resolves when a run has ended and every listener has got its events. */
  async runSettled(run: Run | undefined): Promise<void> {
    await run?.settled;
    await this.events.delivered;
  }

  /** Resolves when the agent is idle and every listener has got its events. */
  async whenIdle(): Promise<void> {
    await whenIdle(this.agent);
    await this.events.delivered;
  }

  /** Calls the listener when the agent closes. */
  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.events.clear();
    for (const listener of this.#onClose) listener();
    try {
      await this.engine.close();
    } finally {
      this.ui.close();
    }
  }
}

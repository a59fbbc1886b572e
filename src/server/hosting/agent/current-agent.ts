import { Refusal } from '../../../protocol/errors.ts';
import type { AgentEvent, SessionState } from '../../../protocol/generated/vocabulary.ts';
import { reachableStats } from '../../../system/files/reachable-stats.ts';
import type { ProcessExit } from '../../../system/processes/process-group.ts';
import type { Access, SessionTarget } from '../../sessions.ts';
import type { AgentLaunch } from './agent-process.ts';
import { type AgentCallbacks, CrashCounter, HostedAgent } from './hosted-agent.ts';

export const TERMINATED = 'Pi process terminated';

interface CurrentAgentParts extends Pick<AgentCallbacks, 'enqueueResponse' | 'onEvent' | 'onError' | 'onActivity'> {
  readonly launch: (access: Access) => AgentLaunch;
  readonly access: Access;
  // The session that the next agent opens.
  readonly target: () => SessionTarget;
  // The parameters of `hello` for the next agent.
  readonly hello: (access: Access) => object;
  // An agent accepts requests.
  readonly onStarted: (state: SessionState) => void;
  // The agent has taken the place of another one.
  readonly onReplaced: () => void;
  // The agent exited; settles when the end of its work is published.
  readonly onCrash: (reason: string) => Promise<void>;
  // The agent exited and is not started again.
  readonly onLost: (reason: string) => Promise<void>;
}

/**
 * The agent of a host. It is started again after a crash, and an agent that only reads is replaced by one that writes
 * when a client may write: it holds no lock, so that both can run until the new one has started.
 */
export class CurrentAgent {
  readonly #parts: CurrentAgentParts;
  readonly #crashes = new CrashCounter();
  readonly #alive = new Set<HostedAgent>();
  /** The agent that accepts requests. */
  #agent: HostedAgent | undefined;
  #access: Access;
  /** The version of the session file that an agent which only reads has read. */
  #fileVersion = '';
  #starting: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  #isEnding = false;

  constructor(parts: CurrentAgentParts) {
    this.#parts = parts;
    this.#access = parts.access;
  }

  /** Undefined while none accepts requests. */
  get agent(): HostedAgent | undefined {
    return this.#agent;
  }

  get access(): Access {
    return this.#access;
  }

  /** Set once no further agent is started. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** How many callbacks wait for an agent. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Calls back with the agent when it accepts requests, or without one when none will be started. */
  whenReady(work: (agent: HostedAgent | undefined) => void): void {
    if (this.#agent || this.#isEnding) work(this.#agent);
    else this.#waiting.push(() => this.whenReady(work));
  }

  /** Starts the first agent. */
  start(): Promise<void> {
    return this.#start(this.#access, 'same session');
  }

  /** Replaces an agent that only reads if a client may write, or if the file has changed since it was read. */
  async provide(access: Access): Promise<void> {
    while (this.#starting !== undefined) await this.#starting.catch(() => {});
    if (this.#isEnding || this.#access === 'write') return;
    if (access === 'read' && this.#fileVersion === fileVersion(this.#parts.target())) return;
    await this.#start(access, 'same session');
    this.#parts.onReplaced();
  }

  /** Kills all agents at once: nothing that they still do counts. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    await Promise.all([...this.#alive].map((agent) => agent.kill()));
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    const ended = Promise.all([...this.#alive].map((agent) => agent.end()));
    // By then the host counts as closing.
    queueMicrotask(() => this.#releaseWaiting());
    await ended;
    this.#agent = undefined;
  }

  #start(access: Access, expected: 'same session' | 'any session'): Promise<void> {
    this.#starting = this.#startAgent(access, expected).finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #startAgent(access: Access, expected: 'same session' | 'any session'): Promise<void> {
    const { launch, enqueueResponse, onEvent, onError, onActivity, hello, onStarted } = this.#parts;
    const target = this.#parts.target();
    const version = fileVersion(target);
    let exitReason = '';
    const handleEvent = (event: AgentEvent, text: string) => {
      if (event.type === 'agent_exiting') exitReason = `: ${event.reason}`;
      else onEvent(event, text);
    };
    const onExit = (exit: ProcessExit) => void this.#handleExit(agent, exit, exitReason);
    const callbacks = { enqueueResponse, onEvent: handleEvent, onError, onExit, onActivity };
    const agent = new HostedAgent(launch(access), { target, access }, callbacks);
    this.#alive.add(agent);
    const state = await agent.start({ legacyNames: false, ...hello(access) });
    if (expected === 'same session' && isDifferentSession(state, target)) {
      await agent.end();
      throw new Refusal('session_not_found', `Session not found: ${target.id}`);
    }
    const previous = this.#agent;
    this.#agent = agent;
    this.#access = access;
    this.#fileVersion = version;
    void previous?.retire();
    onStarted(state);
    this.#releaseWaiting();
  }

  #releaseWaiting(): void {
    for (const retry of this.#waiting.splice(0)) retry();
  }

  async #handleExit(agent: HostedAgent, { code, signal }: ProcessExit, exitReason: string): Promise<void> {
    this.#alive.delete(agent);
    if (this.#agent !== agent || this.#isEnding) return;
    this.#agent = undefined;
    await this.#parts.onCrash(`${TERMINATED} (${signal ?? `exit code ${code}`})${exitReason}`);
    if (this.#isEnding) return;
    // An exit with code 0 was intended.
    if (code === 0) return this.#parts.onLost(TERMINATED);
    await this.#restart();
  }

  async #restart(): Promise<void> {
    while (this.#starting !== undefined) await this.#starting.catch(() => {});
    if (this.#agent || this.#isEnding) return;
    if (this.#crashes.add()) return this.#parts.onLost(TERMINATED);
    try {
      await this.#start(this.#access, 'any session');
      this.#parts.onReplaced();
    } catch {
      await this.#restart();
    }
  }
}

/** An agent whose session file is missing starts another session. Agents other than tau may report no session id. */
const isDifferentSession = ({ sessionId }: Partial<SessionState>, target: SessionTarget) =>
  target.kind === 'stored' && sessionId !== undefined && sessionId !== target.id;

/** Changes with every change of the file. */
function fileVersion(target: SessionTarget): string {
  const stats = target.kind === 'stored' ? reachableStats(target.path) : undefined;
  return stats ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeMs}` : '';
}

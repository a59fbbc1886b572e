import { existsSync } from 'node:fs';
import type { AgentEvent, AgentSettledEvent, SessionState } from '../../../protocol/generated/vocabulary.ts';
import type { ProcessExit } from '../../../system/processes/process-group.ts';
import { toLine } from '../../../wire/json-lines.ts';
import { AgentResponse } from '../../agent-response.ts';
import type { CommandRequest, SessionTarget, Subscriber } from '../../sessions.ts';
import { type AgentLaunch, AgentProcess, StderrLines } from './agent-process.ts';
import { MAX_PENDING_REQUESTS, PendingRequests } from './pending-requests.ts';

// How long an agent may take until its first response.
const AGENT_START_MS = 60_000;

// How long an agent may take to answer a `ping` before it is killed.
const AGENT_PING_TIMEOUT_MS = 60_000;

// Unread input of an agent beyond which requests are rejected.
const MAX_UNREAD_STDIN = 128 * 1024 * 1024;

const EXITED = { code: 'internal', message: 'Pi process terminated before it answered' } as const;

/** Callbacks for the output of an agent, in order. */
export interface AgentCallbacks {
  /** `deliver` must be called after all earlier events. */
  readonly enqueueResponse: (deliver: () => void) => void;
  readonly onEvent: (event: AgentEvent, text: string) => void;
  readonly onError: (error: unknown) => void;
  readonly onExit: (exit: ProcessExit) => void;
  readonly onActivity: (activity: AgentActivity) => void;
}

/** An event for the log of the server: a line of stderr, a number of omitted lines, the end of a run. */
export type AgentActivity = { readonly pid: number | undefined } & (
  | { readonly kind: 'stderr'; readonly line: string }
  | { readonly kind: 'omitted'; readonly lines: number }
  | { readonly kind: 'run'; readonly event: AgentSettledEvent }
);

interface ResponseHandling {
  readonly onResponse: (response: AgentResponse) => void;
  // Called when the response arrives, before it is delivered in order.
  readonly onArrival?: () => void;
  readonly requester?: Subscriber | undefined;
}

/** A running agent and its pending requests. */
export class HostedAgent {
  readonly #process: AgentProcess;
  readonly #requests = new PendingRequests();
  readonly #callbacks: AgentCallbacks;
  readonly #pingTimer: NodeJS.Timeout;
  #unansweredPings = 0;
  #hasExited = false;

  constructor({ args, ...command }: AgentLaunch, target: SessionTarget, callbacks: AgentCallbacks) {
    this.#callbacks = callbacks;
    const cwd = existsSync(target.cwd) ? target.cwd : process.cwd();
    const rpcArgs = ['--mode', 'rpc', '--stream', 'delta', '--on-eof', 'abort', ...sessionArgs(target)];
    const stderrLines = new StderrLines({
      onLine: (line) => callbacks.onActivity({ kind: 'stderr', pid: this.pid, line }),
      onOmitted: (lines) => callbacks.onActivity({ kind: 'omitted', pid: this.pid, lines }),
    });
    const output = { onLine: (text: string) => this.#receive(text), stderrLines };
    this.#process = new AgentProcess({ ...command, args: [...args, ...rpcArgs], cwd }, output);
    this.#pingTimer = setInterval(() => this.#ping(), AGENT_PING_TIMEOUT_MS / 2).unref();
    void this.#process.exited.then((exit) => this.#handleExit(exit));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get hasClientRequests(): boolean {
    return this.#requests.hasClientRequests;
  }

  get isOverloaded(): boolean {
    return this.#requests.size >= MAX_PENDING_REQUESTS || this.#process.unreadBytes > MAX_UNREAD_STDIN;
  }

  /** Settles with the state of the agent. Rejects with the reason if it does not start. */
  start(hello: object): Promise<SessionState> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(new Error(`Failed to spawn Pi process: ${reason}`));
      const startTimer = setTimeout(() => {
        fail('it does not answer');
        void this.#process.kill();
      }, AGENT_START_MS).unref();
      void this.#process.exited.then((exit) => fail(exitReason(exit, this.#process.lastStderrLine)));
      this.request({ type: 'hello', ...hello }, { onResponse: () => {} });
      const onResponse = (response: AgentResponse) => {
        clearTimeout(startTimer);
        if (response.success) resolve(response.data() as SessionState);
        else if (!this.#hasExited) {
          fail('it does not send its state');
          void this.#process.kill();
        }
      };
      this.request({ type: 'get_state' }, { onResponse });
    });
  }

  request(request: CommandRequest, handling: ResponseHandling): void {
    this.sendBatch([[request, handling]]);
  }

  /** Sends several requests at once, so that hardly any event falls between the responses. */
  sendBatch(requests: readonly (readonly [CommandRequest, ResponseHandling])[]): void {
    if (this.#hasExited) {
      for (const [{ type }, { onResponse }] of requests)
        this.#callbacks.enqueueResponse(() => onResponse(AgentResponse.refusal(type, EXITED)));
    } else this.#process.write(requests.map(([request, handling]) => this.#requests.add(request, handling)).join(''));
  }

  /** Sends a frame, which gets no response. */
  sendFrame(frame: object): void {
    this.#process.write(toLine(frame));
  }

  /** The client behind a pending request, and the id that it gave. */
  pendingRequest(id: unknown): { readonly requester: Subscriber | undefined; readonly requestId: unknown } | undefined {
    return this.#requests.find(id);
  }

  async end(): Promise<void> {
    clearInterval(this.#pingTimer);
    await this.#process.end();
  }

  #receive(text: string): void {
    const parsed = AgentResponse.parse(text);
    if (parsed) {
      this.#handleResponse(parsed.id, parsed.response);
      return;
    }
    const record = parseRecord(text);
    if (record?.['type'] === 'response') this.#handleResponse(String(record['id']), AgentResponse.from(record));
    else if (record) this.#handleEvent(record as unknown as AgentEvent, text);
  }

  /** Events of agents other than tau may lack any field. */
  #handleEvent(event: AgentEvent, text: string): void {
    try {
      if (event.type === 'agent_settled') this.#callbacks.onActivity({ kind: 'run', pid: this.pid, event });
      this.#callbacks.onEvent(event, text);
    } catch (error) {
      this.#callbacks.onError(error);
    }
  }

  #handleResponse(id: string, response: AgentResponse): void {
    const pending = this.#requests.take(id);
    if (!pending) return;
    pending.onArrival?.();
    this.#callbacks.enqueueResponse(() => pending.onResponse(response));
  }

  #handleExit(exit: ProcessExit): void {
    clearInterval(this.#pingTimer);
    this.#hasExited = true;
    this.#callbacks.enqueueResponse(() => this.#requests.fail(EXITED.message));
    this.#callbacks.onExit(exit);
  }

  /** Kills an agent that does not answer pings. */
  #ping(): void {
    if (this.#unansweredPings > 1) {
      void this.#process.kill();
      return;
    }
    this.#unansweredPings++;
    const onResponse = () => {
      this.#unansweredPings = 0;
    };
    this.request({ type: 'ping' }, { onResponse });
  }
}

const sessionArgs = (target: SessionTarget) =>
  target.kind === 'new' ? ['--session-id', target.id] : ['--session', target.path];

function exitReason({ error, code, signal }: ProcessExit, lastStderrLine: string): string {
  // The exit code of a shell for an unknown command.
  if (error?.code === 'ENOENT' || code === 127) return 'command not found';
  return error?.message ?? (lastStderrLine.replace(/^tau: /, '') || `it ended with ${code ?? signal}`);
}

/** Ignores output that is not a record, such as that of a wrapper script. */
function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { type } = (value ?? {}) as { type?: unknown };
    return typeof type === 'string' ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

// Crashes within this time after which an agent is not started again.
const MAX_CRASHES = 3;
const CRASH_WINDOW_MS = 60_000;

/** Counts the recent crashes of an agent. */
export class CrashCounter {
  #times: number[] = [];

  /** Adds one; returns whether that exceeds the limit. */
  add(now = performance.now()): boolean {
    this.#times = [...this.#times.filter((at) => now - at < CRASH_WINDOW_MS), now];
    return this.#times.length > MAX_CRASHES;
  }
}

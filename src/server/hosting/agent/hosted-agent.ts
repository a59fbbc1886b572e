import { existsSync } from 'node:fs';
import { NO_SANDBOX, Refusal } from '../../../protocol/errors.ts';
import type { AgentEvent, AgentSettledEvent, SessionState } from '../../../protocol/generated/vocabulary.ts';
import type { ProcessExit } from '../../../system/processes/process-group.ts';
import { conversationReads } from '../../../wire/inbound.ts';
import { toLine } from '../../../wire/json-lines.ts';
import { AgentResponse } from '../../agent-response.ts';
import type { Access, CommandRequest, SessionTarget, Subscriber } from '../../sessions.ts';
import { type AgentLaunch, AgentProcess, LimitedLines } from './agent-process.ts';
import { MAX_PENDING_REQUESTS, PendingRequests } from './pending-requests.ts';
import { ReadQueue } from './read-queue.ts';

// How long an agent may take until its first response.
const AGENT_START_MS = 60_000;

// How long an agent may send nothing, not even the response to a `ping`, before it is killed.
const AGENT_PING_TIMEOUT_MS = 60_000;

// The same for an agent that works on a read: a long session may block its event loop.
const AGENT_READ_TIMEOUT_MS = 10 * 60_000;

const PING_INTERVAL_MS = AGENT_PING_TIMEOUT_MS / 2;

// Unread input of an agent beyond which requests are rejected.
const MAX_UNREAD_STDIN = 128 * 1024 * 1024;

const EXITED = { code: 'internal', message: 'Pi process terminated before it answered' } as const;

const DETACHED = { code: 'overloaded', message: 'The client left the session before its read had its turn' } as const;

/** Callbacks for the output of an agent, in order. */
export interface AgentCallbacks {
  /** `deliver` must be called after all earlier events. */
  readonly enqueueResponse: (deliver: () => void) => void;
  readonly onEvent: (event: AgentEvent, text: string) => void;
  readonly onError: (error: unknown) => void;
  readonly onExit: (exit: ProcessExit) => void;
  readonly onActivity: (activity: AgentActivity) => void;
}

/** An event for the log of the server: a line of stderr, a reported failure, a number of omitted lines, the end of a run. */
export type AgentActivity = { readonly pid: number | undefined } & (
  | { readonly kind: 'stderr'; readonly line: string }
  | { readonly kind: 'failure'; readonly line: string }
  | { readonly kind: 'omitted'; readonly lines: number }
  | { readonly kind: 'run'; readonly event: AgentSettledEvent }
);

interface ResponseHandling {
  readonly onResponse: (response: AgentResponse) => void;
  // Called when the response arrives, before it is delivered in order.
  readonly onArrival?: () => void;
  readonly requester?: Subscriber | undefined;
}

/** The session that an agent opens, and whether it may change it. */
interface AgentSession {
  readonly target: SessionTarget;
  readonly access: Access;
}

type HandledRequest = readonly [CommandRequest, ResponseHandling];

/** A running agent and its pending requests. */
export class HostedAgent {
  readonly #failures: LimitedLines;
  readonly #process: AgentProcess;
  readonly #requests = new PendingRequests();
  readonly #reads = new ReadQueue();
  readonly #callbacks: AgentCallbacks;
  readonly #pingTimer: NodeJS.Timeout;
  /** Pings since the agent sent anything. */
  #unansweredPings = 0;
  /** Whether it accepts no further requests: it exited or was replaced. */
  #isClosed = false;
  #isRetired = false;

  constructor({ args, ...command }: AgentLaunch, session: AgentSession, callbacks: AgentCallbacks) {
    this.#callbacks = callbacks;
    const { target } = session;
    const cwd = existsSync(target.cwd) ? target.cwd : process.cwd();
    const rpcArgs = ['--mode', 'rpc', '--stream', 'delta', '--on-eof', 'abort', ...sessionArgs(session)];
    const onOmitted = (lines: number) => callbacks.onActivity({ kind: 'omitted', pid: this.pid, lines });
    const stderrLines = new LimitedLines({
      onLine: (line) => callbacks.onActivity({ kind: 'stderr', pid: this.pid, line }),
      onOmitted,
    });
    this.#failures = new LimitedLines({
      onLine: (line) => callbacks.onActivity({ kind: 'failure', pid: this.pid, line }),
      onOmitted,
    });
    const onOutput = () => {
      this.#unansweredPings = 0;
    };
    const output = { onLine: (text: string) => this.#receive(text), onOutput, stderrLines };
    this.#process = new AgentProcess({ ...command, args: [...args, ...rpcArgs], cwd }, output);
    this.#pingTimer = setInterval(() => this.#ping(), PING_INTERVAL_MS).unref();
    void this.#process.exited.then((exit) => this.#handleExit(exit));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get hasClientRequests(): boolean {
    return this.#requests.hasClientRequests || this.#reads.hasClientReads;
  }

  get isOverloaded(): boolean {
    return this.#requests.size >= MAX_PENDING_REQUESTS || this.#process.unreadBytes > MAX_UNREAD_STDIN;
  }

  /** Settles with the state of the agent. Rejects with the reason if it does not start. */
  start(hello: object): Promise<SessionState> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(startFailure(reason));
      const startTimer = setTimeout(() => {
        fail('it does not answer');
        void this.#process.kill();
      }, AGENT_START_MS).unref();
      void this.#process.exited.then((exit) => fail(exitReason(exit, this.#process.lastStderrLine)));
      this.request({ type: 'hello', ...hello }, { onResponse: () => {} });
      const onResponse = (response: AgentResponse) => {
        const state = stateIn(response);
        clearTimeout(startTimer);
        if (state) resolve(state);
        else if (!this.#isClosed) {
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

  /** Sends several requests at once, so that hardly any event falls between the responses. A read waits for its turn. */
  sendBatch(requests: readonly HandledRequest[]): void {
    const read = requests.find(([{ type }]) => conversationReads.has(type));
    if (this.#isClosed) this.#reject(requests, EXITED);
    else if (!read) this.#write(requests);
    else
      this.#reads.add(read[1].requester, {
        send: (done) => this.#write(requests.map((one) => (one === read ? withArrival(one, done) : one))),
        drop: () => this.#reject(requests, this.#isClosed ? EXITED : DETACHED),
      });
  }

  #write(requests: readonly HandledRequest[]): void {
    this.#process.write(requests.map(([request, handling]) => this.#requests.add(request, handling)).join(''));
  }

  #reject(requests: readonly HandledRequest[], reason: typeof EXITED | typeof DETACHED): void {
    for (const [{ type }, { onResponse }] of requests)
      this.#callbacks.enqueueResponse(() => onResponse(AgentResponse.refusal(type, reason)));
  }

  /** Sends the reads of clients that have read their output meanwhile. */
  continueReads(): void {
    this.#reads.sendNext();
  }

  /** Drops the reads of a client that the agent has not got yet. */
  cancelReads(requester: Subscriber): void {
    this.#reads.cancel(requester);
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

  /** Stops reading its output, so that it pauses when the pipe is full, or continues. */
  setReading(isReading: boolean): void {
    this.#process.setReading(isReading);
  }

  async kill(): Promise<void> {
    clearInterval(this.#pingTimer);
    await this.#process.kill();
  }

  /** Whether another agent has taken its place. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Ends an agent that another one has replaced: its requests fail, and its further output is ignored. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    this.#failRequests();
    await this.end();
  }

  #receive(text: string): void {
    if (this.#isRetired) return;
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
      const failure = failureIn(event);
      if (failure !== undefined) this.#failures.push(`${failure.replaceAll('\n', ' ')}\n`);
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
    this.#failRequests();
    this.#failures.end();
    this.#callbacks.onExit(exit);
  }

  #failRequests(): void {
    this.#isClosed = true;
    this.#reads.cancelAll();
    for (const fail of this.#requests.takeAll(EXITED.message)) this.#callbacks.enqueueResponse(fail);
  }

  /** Kills an agent that sends nothing for too long. */
  #ping(): void {
    const timeoutMs = this.#reads.isAgentReading ? AGENT_READ_TIMEOUT_MS : AGENT_PING_TIMEOUT_MS;
    if (this.#unansweredPings * PING_INTERVAL_MS >= timeoutMs) {
      void this.#process.kill();
      return;
    }
    this.#unansweredPings++;
    this.request({ type: 'ping' }, { onResponse: () => {} });
  }
}

const withArrival = ([request, handling]: HandledRequest, onArrival: () => void): HandledRequest => [
  request,
  {
    ...handling,
    onArrival: () => {
      handling.onArrival?.();
      onArrival();
    },
  },
];

/** The state in the response to `get_state`; undefined for a failure and for text that is not JSON. */
function stateIn(response: AgentResponse): SessionState | undefined {
  try {
    return response.success ? (response.data() as SessionState) : undefined;
  } catch {
    return undefined;
  }
}

const sessionArgs = ({ target, access }: AgentSession) => [
  ...(target.kind === 'new' ? ['--session-id', target.id] : ['--session', target.path]),
  ...(access === 'read' ? ['--read-only'] : []),
];

const startFailure = (reason: string): Error =>
  reason.startsWith(NO_SANDBOX)
    ? new Refusal('sandbox_unavailable', reason)
    : new Error(`Failed to spawn Pi process: ${reason}`);

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

/** The failure of an extension or of an MCP server that an event reports; without the text of the extension. */
function failureIn(event: AgentEvent): string | undefined {
  if (event.type === 'extension_error') return `the extension ${event.extensionPath} failed in ${event.event}`;
  if (event.type !== 'mcp_status' || event.server.status !== 'failed') return undefined;
  return `the MCP server ${event.server.name} failed: ${event.server.error ?? 'no reason was given'}`;
}

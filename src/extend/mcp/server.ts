import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { type Tool, type ToolInvocation, textOutput } from '../../agent/tool.ts';
import { redact } from '../../model/keys/redact.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { McpServerStatus } from '../../protocol/generated/vocabulary.ts';
import type { McpEntry } from '../../store/mcp-file.ts';
import { argumentCheck } from '../argument-check.ts';
import type { McpConnection } from './connection.ts';
import { MAX_WAIT_MS, resolveTarget, type ServerEnv } from './server-target.ts';
import { type RemoteTool, type ToolList, toolName } from './tool-list.ts';
import { parseToolResult } from './tool-output.ts';

// Default timeout for connecting.
const MCP_CONNECT_MS = 10_000;

// Default limit of silence during a call.
const MCP_CALL_IDLE_MS = 60_000;

// Delays before reconnecting to a lost server; a successful call starts them over.
const RECONNECT_DELAYS_MS = [0, 2000, 10_000, 60_000];

const MIN_LIST_INTERVAL_MS = 1000;

/** The entry of a server, or why it is invalid. */
export type McpServerSpec = McpEntry | { readonly problem: string };

/** The callbacks of a server to the set it belongs to. */
export interface McpServerOwner {
  readonly environment: ServerEnv;
  /** Runs a change of this server and publishes it. */
  readonly change: (server: McpServer, work: () => void) => void;
  readonly isTaken: (name: string, by: McpServer) => boolean;
  readonly isAgentTool: (name: string) => boolean;
  readonly warn: (text: string) => void;
}

/** An MCP server of the agent: connects, reconnects and offers its tools. Its failures never reject. */
export class McpServer {
  readonly name: string;
  readonly spec: McpServerSpec;
  readonly #owner: McpServerOwner;
  #state: McpServerStatus['status'] = 'connecting';
  #error: string | undefined;
  #tools: readonly Tool[] = [];
  #secrets: readonly string[] = [];
  #connection: McpConnection | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #connectAbort: AbortController | undefined;
  #wasReady = false;
  #reconnects = 0;
  #listedAt = 0;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(name: string, spec: McpServerSpec, owner: McpServerOwner) {
    this.name = name;
    this.spec = spec;
    this.#owner = owner;
    if ('problem' in spec) {
      this.#state = 'failed';
      this.#error = spec.problem;
    } else if (spec.disabled) this.#state = 'disabled';
  }

  get status(): McpServerStatus {
    const tools = this.#tools.map(({ name }) => name);
    return {
      name: this.name,
      status: this.#state,
      tools,
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** The environment it was started in. */
  get environment(): ServerEnv {
    return this.#owner.environment;
  }

  /** Resolves when the server is ready or has failed. */
  start(): Promise<void> {
    if (this.#state === 'connecting') this.#attempt = this.#connect();
    return this.#attempt;
  }

  abandon(reason: string): void {
    this.#connectAbort?.abort(reason);
  }

  /** Resolves when its connection and process have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#reconnectTimer);
    clearTimeout(this.#listTimer);
    this.abandon('was closed');
    await this.#connection?.close();
    await this.#attempt;
  }

  async #connect(): Promise<void> {
    if ('problem' in this.spec) return;
    const { timeoutMs = MCP_CONNECT_MS } = this.spec;
    const connectMs = Math.min(timeoutMs, MAX_WAIT_MS);
    const abort = new AbortController();
    const { signal } = abort;
    this.#connectAbort = abort;
    const timer = setTimeout(() => abort.abort(`did not connect within ${connectMs / 1000} seconds`), connectMs);
    let connection: McpConnection | undefined;
    try {
      const { endpoint, secrets } = await resolveTarget(this.spec, this.#owner.environment, signal);
      this.#secrets = secrets;
      const { McpConnection } = await import('./connection.ts');
      connection = await McpConnection.open({
        endpoint,
        signal,
        onLost: (lost, failure) => this.#onLost(lost, failure),
        onToolsChanged: () => this.#scheduleList(),
      });
      this.#setReady(connection, await connection.listTools(signal));
    } catch (error) {
      await connection?.close();
      this.#setFailed(signal.aborted ? String(signal.reason) : messageOf(error));
    } finally {
      clearTimeout(timer);
      this.#connectAbort = undefined;
    }
  }

  #setReady(connection: McpConnection, list: ToolList): void {
    this.#connection = connection;
    this.#wasReady = true;
    this.#change(() => {
      this.#state = 'ready';
      this.#error = undefined;
      this.#setTools(list);
    });
  }

  #setFailed(failure: string): void {
    this.#connection = undefined;
    this.#change(() => {
      this.#state = 'failed';
      this.#error = redact(failure, this.#secrets);
      this.#tools = [];
    });
    if (this.#wasReady) this.#scheduleReconnect();
  }

  #onLost(connection: McpConnection, failure: string): void {
    if (connection === this.#connection) this.#setFailed(failure);
  }

  #scheduleReconnect(): void {
    const delay = RECONNECT_DELAYS_MS[this.#reconnects++];
    if (delay === undefined || this.#isClosed) return;
    this.#reconnectTimer = setTimeout(() => {
      this.#change(() => {
        this.#state = 'connecting';
        this.#error = undefined;
      });
      this.#attempt = this.#connect();
    }, delay).unref();
  }

  /** At most one listing per interval, however often the server reports a change. */
  #scheduleList(): void {
    if (this.#listTimer !== undefined || this.#isClosed) return;
    const delay = Math.max(0, this.#listedAt + MIN_LIST_INTERVAL_MS - Date.now());
    this.#listTimer = setTimeout(() => void this.#list(), delay).unref();
  }

  async #list(): Promise<void> {
    this.#listTimer = undefined;
    this.#listedAt = Date.now();
    const connection = this.#connection;
    // The list that is being read may already be outdated.
    if (this.#state === 'connecting') this.#scheduleList();
    try {
      const list = await connection?.listTools(AbortSignal.timeout(MCP_CONNECT_MS));
      if (list && connection === this.#connection) this.#change(() => this.#setTools(list));
    } catch (error) {
      if (!this.#isClosed) this.#warn(`its new list of tools is passed over: ${messageOf(error)}`);
    }
  }

  #setTools({ tools, problems }: ToolList): void {
    for (const problem of problems) this.#warn(problem);
    const names = new Set<string>();
    const isTaken = (name: string) => names.has(name) || this.#owner.isTaken(name, this);
    this.#tools = tools.flatMap((tool) => {
      const name = toolName(this.name, tool.name, isTaken);
      names.add(name);
      if (!this.#owner.isAgentTool(name)) return serverTool(name, tool, this.#call);
      this.#warn(`its tool ${name} is left out: there is another one of that name`);
      return [];
    });
  }

  readonly #call: CallTool = async (tool, { args, signal, onProgress }) => {
    const { ServerUnavailable } = await import('./connection.ts');
    const { timeoutMs = MCP_CALL_IDLE_MS } = this.spec as McpEntry;
    try {
      if (!this.#connection) throw new ServerUnavailable('is not connected');
      const call = { tool, args, signal, timeoutMs: Math.min(timeoutMs, MAX_WAIT_MS), onProgress };
      const response = await this.#connection.call(call);
      this.#reconnects = 0;
      return response;
    } catch (error) {
      const text = redact(messageOf(error), this.#secrets);
      throw new Error(error instanceof ServerUnavailable ? `The MCP server ${this.name} ${text}` : text);
    }
  };

  #change(work: () => void): void {
    if (!this.#isClosed) this.#owner.change(this, work);
  }

  #warn(text: string): void {
    this.#owner.warn(`MCP server ${this.name}: ${redact(text, this.#secrets)}`);
  }
}

// Calls a tool of the server.
type CallTool = (
  tool: string,
  invocation: Pick<ToolInvocation, 'args' | 'signal'> & { readonly onProgress: (progress: Progress) => void },
) => Promise<unknown>;

// The model's view of a server's tool.
const serverTool = (name: string, remote: RemoteTool, call: CallTool): Tool => ({
  name,
  description: remote.description || remote.name,
  parameters: remote.parameters,
  findProblem: argumentCheck(name, remote.inputSchema),
  execute: async ({ args, signal, update }) => {
    const onProgress = (progress: Progress) => update(textOutput(progressText(progress)));
    return parseToolResult(await call(remote.name, { args, signal, onProgress }));
  },
});

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return message ? `${message} (${count})` : count;
}

import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import { redact } from '../../model/keys/redact.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { McpServerStatus } from '../../protocol/generated/vocabulary.ts';
import { isToolHidden, type McpEntry, type McpOAuthSettings } from '../../store/mcp/mcp-file.ts';
import type { McpConnection } from './connection.ts';
import {
  SESSION_UNKNOWN,
  ServerUnavailable,
  SessionRefused,
  type SignInChallenge,
  SignInRequired,
} from './mcp-errors.ts';
import type { ServerAuth } from './oauth/server-auth.ts';
import type { SignInPrompt } from './oauth/sign-in.ts';
import type { RemotePrompt } from './prompt-list.ts';
import type { ServerRequests } from './requests/server-requests.ts';
import { MAX_WAIT_MS, type McpTarget, resolveTarget, type ServerEnv } from './server-target.ts';
import { type CallTool, serverTool, toolName } from './tools/server-tool.ts';
import type { ToolList } from './tools/tool-list.ts';

// Default timeout for connecting.
const MCP_CONNECT_MS = 10_000;

// Default idle time that ends a call.
const MCP_CALL_IDLE_MS = 60_000;

// Delays before reconnecting to a lost server; a successful call starts them over.
const RECONNECT_DELAYS_MS = [0, 2000, 10_000, 60_000];

const MIN_LIST_INTERVAL_MS = 1000;

// A server that accepts no sign-in may demand this many; a successful call starts over.
const MAX_SIGN_INS = 3;

/** The entry of a server, or why it is invalid. */
export type McpServerSpec = McpEntry | { readonly problem: string };

/** The callbacks of a server to the set it belongs to. */
export interface McpServerOwner {
  readonly environment: ServerEnv;
  /** Runs a change of this server and publishes it. */
  readonly change: (server: McpServer, work: () => void) => void;
  readonly isTaken: (name: string, by: McpServer) => boolean;
  readonly isAgentTool: (name: string) => boolean;
  readonly requestsOf: (server: string) => ServerRequests;
  /** Where sign-ins are stored. */
  readonly agentDir: string;
  /** Whether a user can be shown a sign-in. */
  readonly canSignIn: () => boolean;
  /** Shows the address of a sign-in; resolves with a pasted code, with undefined if the user cancels. */
  readonly presentSignIn: (server: string, prompt: SignInPrompt, signal: AbortSignal) => Promise<string | undefined>;
  readonly warn: (text: string) => void;
}

interface ServerLists {
  readonly tools: ToolList;
  readonly prompts: readonly RemotePrompt[];
}

/** An MCP server of the agent: connects, reconnects and offers its tools. Its failures never reject. */
export class McpServer {
  readonly name: string;
  readonly spec: McpServerSpec;
  readonly #owner: McpServerOwner;
  readonly #requests: ServerRequests;
  #state: McpServerStatus['status'] = 'connecting';
  #error: string | undefined;
  #tools: readonly Tool[] = [];
  #prompts: readonly RemotePrompt[] = [];
  #secrets: readonly string[] = [];
  #connection: McpConnection | undefined;
  /** Connections whose session the server refused, until their last requests are refused. */
  readonly #refused = new Set<McpConnection>();
  #attempt: Promise<void> = Promise.resolve();
  #connectAbort: AbortController | undefined;
  #signInSettings: McpOAuthSettings | undefined;
  #auth: ServerAuth | undefined;
  #signingIn: Promise<void> | undefined;
  #signIns = 0;
  readonly #closed = new AbortController();
  #isStarted = false;
  #wasReady = false;
  #reconnects = 0;
  #listedAt = 0;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #listTimer: NodeJS.Timeout | undefined;

  constructor(name: string, spec: McpServerSpec, owner: McpServerOwner) {
    this.name = name;
    this.spec = spec;
    this.#owner = owner;
    this.#requests = owner.requestsOf(name);
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

  get prompts(): readonly RemotePrompt[] {
    return this.#prompts;
  }

  /** The server's text for every model; undefined while it is not connected. */
  get instructions(): string | undefined {
    return this.#connection?.instructions;
  }

  /** The environment it was started in. */
  get environment(): ServerEnv {
    return this.#owner.environment;
  }

  /** Resolves when the server is ready or has failed. */
  start(): Promise<void> {
    if (this.#state === 'connecting' && !this.#isStarted) this.#attempt = this.#connect();
    this.#isStarted = true;
    return this.#attempt;
  }

  abandon(reason: string): void {
    this.#connectAbort?.abort(reason);
  }

  rootsChanged(): void {
    this.#connection?.rootsChanged();
  }

  /** Reads a prompt or a resource. Rejects with a readable message. */
  read(method: 'prompts/get' | 'resources/read', params: object, signal: AbortSignal): Promise<unknown> {
    return this.#withConnection((connection) => connection.read(method, params, signal), signal);
  }

  /** Resolves when its connection and process have ended. */
  async close(): Promise<void> {
    this.#closed.abort();
    clearTimeout(this.#reconnectTimer);
    clearTimeout(this.#listTimer);
    this.abandon('was closed');
    await this.#connection?.close();
    await this.#attempt;
    // The attempt may have succeeded before it noticed the abort.
    await Promise.all([this.#connection, ...this.#refused].map((connection) => connection?.close()));
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted;
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
        auth: await this.#authFor(endpoint),
        signal,
        requests: this.#requests,
        onLost: (lost, failure) => this.#onLost(lost, failure),
        onListChanged: () => this.#scheduleList(),
      });
      this.#setReady(connection, await this.#lists(connection, signal));
    } catch (error) {
      await connection?.close();
      this.#onConnectFailed(error, signal);
    } finally {
      clearTimeout(timer);
      this.#connectAbort = undefined;
    }
  }

  /** A server that fails to list its prompts is still used for its tools. */
  async #lists(connection: McpConnection, signal: AbortSignal): Promise<ServerLists> {
    const prompts = connection.listPrompts(signal).catch((error: unknown) => {
      this.#warn(`its prompts are left out: ${messageOf(error)}`);
      return [];
    });
    return { tools: await connection.listTools(signal), prompts: await prompts };
  }

  async #authFor(endpoint: McpTarget['endpoint']): Promise<ServerAuth | undefined> {
    if ('program' in endpoint || !endpoint.signIn) return undefined;
    const { ServerAuth } = await import('./oauth/server-auth.ts');
    const { url, signIn: settings } = endpoint;
    this.#signInSettings = settings;
    this.#auth = new ServerAuth({ agentDir: this.#owner.agentDir, url, settings });
    return this.#auth;
  }

  #onConnectFailed(error: unknown, signal: AbortSignal): void {
    if (!(error instanceof SignInRequired)) {
      this.#setFailed(signal.aborted ? String(signal.reason) : messageOf(error));
      return;
    }
    this.#setFailed(`${error.message}: "tau mcp login ${this.name}" signs in`, 'stay');
    // The agent does not wait: a user may take minutes.
    void this.#signIn(error.challenge)
      .then(() => this.#reconnect())
      .catch((failure: unknown) => {
        if (!this.#isClosed) this.#setFailed(`${error.message}: ${messageOf(failure)}`, 'stay');
      });
  }

  /** Signs the user in. Rejects if the user cancels, if it fails, or if none can be shown a sign-in. */
  #signIn(challenge: SignInChallenge): Promise<void> {
    this.#signingIn ??= this.#runSignIn(challenge).finally(() => {
      this.#signingIn = undefined;
    });
    return this.#signingIn;
  }

  async #runSignIn(challenge: SignInChallenge): Promise<void> {
    const { agentDir, canSignIn, presentSignIn } = this.#owner;
    const { url } = this.spec as McpEntry;
    if (!canSignIn() || url === undefined || !this.#signInSettings)
      throw new Error(`"tau mcp login ${this.name}" signs in`);
    if (this.#signIns++ >= MAX_SIGN_INS) throw new Error('it accepted none of the sign-ins');
    const { signIn } = await import('./oauth/sign-in.ts');
    await signIn({
      agentDir,
      url,
      settings: this.#signInSettings,
      challenge,
      present: (prompt, signal) => presentSignIn(this.name, prompt, signal),
      signal: this.#closed.signal,
    });
  }

  #setReady(connection: McpConnection, lists: ServerLists): void {
    this.#connection = connection;
    this.#wasReady = true;
    this.#change(() => {
      this.#state = 'ready';
      this.#error = undefined;
      this.#setLists(lists);
    });
  }

  #setFailed(failure: string, then: 'reconnect' | 'stay' = 'reconnect'): void {
    this.#connection = undefined;
    this.#change(() => {
      this.#state = 'failed';
      this.#error = this.#redacted(failure);
      this.#tools = [];
      this.#prompts = [];
    });
    if (this.#wasReady && then === 'reconnect') this.#scheduleReconnect();
  }

  #onLost(connection: McpConnection, failure: string): void {
    this.#refused.delete(connection);
    if (connection === this.#connection) this.#setFailed(failure);
  }

  #scheduleReconnect(): void {
    const delay = RECONNECT_DELAYS_MS[this.#reconnects++];
    if (delay === undefined || this.#isClosed) return;
    this.#reconnectTimer = setTimeout(() => void this.#reconnect(), delay).unref();
  }

  #reconnect(): Promise<void> {
    clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = undefined;
    if (this.#isClosed || this.#state === 'connecting') return this.#attempt;
    this.#change(() => {
      this.#state = 'connecting';
      this.#error = undefined;
    });
    this.#attempt = this.#connect();
    return this.#attempt;
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
      const lists = connection && (await this.#lists(connection, AbortSignal.timeout(MCP_CONNECT_MS)));
      if (lists && connection === this.#connection) this.#change(() => this.#setLists(lists));
    } catch (error) {
      if (!this.#isClosed) this.#warn(`its new list of tools is passed over: ${messageOf(error)}`);
    }
  }

  #setLists({ tools: { tools, problems }, prompts }: ServerLists): void {
    for (const problem of problems) this.#warn(problem);
    const names = new Set<string>();
    const isTaken = (name: string) => names.has(name) || this.#owner.isTaken(name, this);
    const use = { call: this.#call, warn: (text: string) => this.#warn(text) };
    this.#prompts = prompts;
    this.#tools = tools.flatMap((tool) => {
      if (isToolHidden(this.spec as McpEntry, tool.name)) return [];
      const name = toolName(this.name, tool.name, isTaken);
      names.add(name);
      if (!this.#owner.isAgentTool(name)) return serverTool(name, tool, use);
      this.#warn(`its tool ${name} is left out: there is another one of that name`);
      return [];
    });
  }

  readonly #call: CallTool = (tool, { args, signal, onProgress }) => {
    const { timeoutMs = MCP_CALL_IDLE_MS } = this.spec as McpEntry;
    const call = { tool, args, signal, timeoutMs: Math.min(timeoutMs, MAX_WAIT_MS), onProgress };
    return this.#withConnection((connection) => connection.call(call), signal);
  };

  /** Repeats the work only if the server refused it before it ran: for its session or for a sign-in. */
  async #withConnection<T>(work: (connection: McpConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      for (let isRepeated = false; ; isRepeated = true) {
        const connection = this.#connection;
        try {
          if (!connection) throw new ServerUnavailable('is not connected');
          const result = await work(connection);
          this.#reconnects = 0;
          this.#signIns = 0;
          return result;
        } catch (error) {
          if (connection && error instanceof SessionRefused && !isRepeated) await this.#reopen(connection, signal);
          else if (error instanceof SignInRequired) await this.#signInFor(error, signal);
          else throw error;
        }
      }
    } catch (error) {
      const text = this.#redacted(messageOf(error));
      throw new Error(error instanceof ServerUnavailable ? `The MCP server ${this.name} ${text}` : text);
    }
  }

  /** The refused connection closes by itself: other requests may wait for their own refusal. */
  async #reopen(refused: McpConnection, signal: AbortSignal): Promise<void> {
    if (refused === this.#connection) {
      this.#refused.add(refused);
      this.#setFailed(SESSION_UNKNOWN, 'stay');
    }
    if (this.#connection === undefined) await unlessAborted(this.#reconnect(), signal);
  }

  async #signInFor({ challenge, message }: SignInRequired, signal: AbortSignal): Promise<void> {
    try {
      await unlessAborted(this.#signIn(challenge), signal);
    } catch (error) {
      throw new ServerUnavailable(`${message}: ${messageOf(error)}`);
    }
    if (signal.aborted) throw new Error('Operation aborted');
  }

  #change(work: () => void): void {
    if (!this.#isClosed) this.#owner.change(this, work);
  }

  #warn(text: string): void {
    this.#owner.warn(`MCP server ${this.name}: ${this.#redacted(text)}`);
  }

  #redacted(text: string): string {
    return redact(text, [...this.#secrets, ...(this.#auth?.secrets ?? [])]);
  }
}

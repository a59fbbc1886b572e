import {
  type AuthProvider,
  Client,
  InsufficientScopeError,
  type Progress,
  type RequestOptions,
  type StandardSchemaV1,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { throwIfAborted, unlessAborted } from '../../agent/unless-aborted.ts';
import { version } from '../../protocol/generated/version.ts';
import { CallTimer } from './call-timer.ts';
import { ChangeStream } from './change-stream.ts';
import { describeFailure, isServerError, statusOf } from './describe-failure.ts';
import { ServerUnavailable, SignInRequired } from './mcp-errors.ts';
import { listPrompts, type RemotePrompt } from './prompt-list.ts';
import type { ServerRequests } from './requests/server-requests.ts';
import { MAX_WAIT_MS, type McpTarget } from './server-target.ts';
import { declaresHeaders } from './tools/param-headers.ts';
import { listTools, type RemoteTool, type ToolList } from './tools/tool-list.ts';
import { runToolTask } from './tools/tool-task.ts';
import { type McpTransport, type Negotiation, openingAttempts } from './transport/opening-attempts.ts';

export interface McpConnectionOptions {
  readonly endpoint: McpTarget['endpoint'];
  /** Supplies the tokens of a server that may need a sign-in. */
  readonly auth: AuthProvider | undefined;
  /** Aborts connecting. */
  readonly signal: AbortSignal;
  /** Called once when an open connection closes by itself. */
  readonly onLost: (connection: McpConnection, failure: string) => void;
  /** The server has other tools or prompts. */
  readonly onListChanged: () => void;
  /** Handles the requests of the server. */
  readonly requests: ServerRequests;
}

export interface RemoteCall {
  readonly tool: RemoteTool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** How long the server may stay silent. */
  readonly timeoutMs: number;
  readonly onProgress: (progress: Partial<Progress>) => void;
}

// Rounds of input that a server may demand before it answers a call (revision 2026-07-28).
const MAX_INPUT_ROUNDS = 10;

/** An open connection to an MCP server. */
export class McpConnection {
  readonly #client: Client;
  readonly #transport: McpTransport;
  readonly #auth: AuthProvider | undefined;
  readonly #timers = new Set<CallTimer>();
  /** Requests of the server that are being handled. */
  #openRequests = 0;
  #changes: ChangeStream | undefined;
  #closing: Promise<void> | undefined;

  private constructor(transport: McpTransport, negotiation: Negotiation, options: McpConnectionOptions) {
    const { requests, auth } = options;
    this.#transport = transport;
    this.#auth = auth;
    // Results are validated here: the library would compile every schema of every tool.
    const jsonSchemaValidator = { getValidator: () => (data: unknown) => ({ valid: true, data }) as never };
    this.#client = new Client(
      { name: 'tau', version },
      {
        capabilities: requests.capabilities,
        jsonSchemaValidator,
        versionNegotiation: { mode: negotiation },
        inputRequired: { maxRounds: MAX_INPUT_ROUNDS },
      },
    );
    this.#handleRequests(requests);
  }

  /** Rejects with a readable message, or with `SignInRequired`, if the connection fails or is aborted. */
  static async open(options: McpConnectionOptions): Promise<McpConnection> {
    let first: unknown;
    for (const { isNext, createTransport, negotiation } of openingAttempts(options.endpoint, options.auth)) {
      if (first !== undefined && !isNext(first)) continue;
      try {
        return await McpConnection.#openOnce(await createTransport(), negotiation, options);
      } catch (error) {
        if (error instanceof SignInRequired) throw error;
        first ??= error;
        if (options.signal.aborted) break;
      }
    }
    throw new Error(describeFailure(first));
  }

  static async #openOnce(transport: McpTransport, negotiation: Negotiation, options: McpConnectionOptions) {
    const { signal, onLost, onListChanged } = options;
    const connection = new McpConnection(transport, negotiation, options);
    const client = connection.#client;
    client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
    client.setNotificationHandler('notifications/prompts/list_changed', onListChanged);
    try {
      throwIfAborted(signal);
      await unlessAborted(client.connect(transport, { signal, timeout: MAX_WAIT_MS }), signal);
      throwIfAborted(signal);
      if (transport.failure !== undefined) throw new Error(transport.failure);
    } catch (error) {
      const { failure } = transport;
      await connection.close();
      throw connection.#signInDemand(error) ?? (failure === undefined ? error : new Error(failure));
    }
    client.onclose = () => {
      connection.#changes?.close();
      if (connection.#closing === undefined) onLost(connection, transport.failure ?? 'closed the connection');
    };
    if (client.getProtocolEra() === 'modern') connection.#listen(onListChanged);
    return connection;
  }

  /** The server's text for every model. */
  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  async listTools(signal: AbortSignal): Promise<ToolList> {
    const { tools, tasks } = this.#client.getServerCapabilities() ?? {};
    if (!tools) return { tools: [], problems: [] };
    const isModern = this.#client.getProtocolEra() === 'modern';
    const runsTasks = !isModern && tasks?.requests?.tools?.call !== undefined;
    return listTools((cursor) => this.#page('tools/list', cursor, signal), { runsTasks, checksHeaders: isModern });
  }

  async listPrompts(signal: AbortSignal): Promise<readonly RemotePrompt[]> {
    if (!this.#client.getServerCapabilities()?.prompts) return [];
    return listPrompts((cursor) => this.#page('prompts/list', cursor, signal));
  }

  /** Requests that only read: prompts and resources. Rejects with a readable message. */
  async read(method: 'prompts/get' | 'resources/read', params: object, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#request({ method, params }, { signal });
    } catch (error) {
      throwIfAborted(signal);
      throw this.#failureOf(error);
    }
  }

  /** The result of the tool. An abort is sent to the server, and the call rejects at once. */
  async call(call: RemoteCall): Promise<unknown> {
    const { tool, args, signal, timeoutMs, onProgress } = call;
    const params = { name: tool.name, arguments: args };
    const limits = { signal, idleMs: timeoutMs, onProgress };
    try {
      if (tool.isTask) {
        // Bounds the task as a whole.
        return await this.#limited({ signal }, ({ signal: stop = signal }) => this.#runTask(call, stop));
      }
      if (!declaresHeaders(tool.inputSchema)) return await this.#request({ method: 'tools/call', params }, limits);
      const toolDefinition = { name: tool.name, inputSchema: tool.inputSchema as { type: 'object' } };
      return await this.#limited(limits, (options) => this.#client.callTool(params, { ...options, toolDefinition }));
    } catch (error) {
      throwIfAborted(signal);
      throw this.#failureOf(error);
    }
  }

  #runTask({ tool, args, timeoutMs, onProgress }: RemoteCall, signal: AbortSignal): Promise<unknown> {
    const request = (method: string, params: object) =>
      this.#request(
        { method, params },
        {
          signal: method === 'tasks/cancel' ? NEVER : signal,
          idleMs: method === 'tasks/result' ? MAX_WAIT_MS : timeoutMs,
        },
      );
    const onStatus = (message: string) => onProgress({ message });
    return runToolTask({ name: tool.name, arguments: args }, { request, signal, onStatus });
  }

  /** Announces that the list of roots has changed, to a server whose revision has that message. */
  rootsChanged(): void {
    if (this.#client.getProtocolEra() === 'legacy') void this.#client.sendRootsListChanged().catch(() => {});
  }

  close(): Promise<void> {
    this.#changes?.close();
    this.#closing ??= this.#transport.close();
    return this.#closing;
  }

  async #page(method: string, cursor: string | undefined, signal: AbortSignal): Promise<unknown> {
    try {
      const params = cursor === undefined ? {} : { cursor };
      return await this.#request({ method, params }, { signal });
    } catch (error) {
      throw this.#signInDemand(error) ?? new Error(this.#describe(error));
    }
  }

  #request(request: { readonly method: string; readonly params: object }, limits: RequestLimits): Promise<unknown> {
    return this.#limited(limits, (options) => this.#client.request(request as never, ANY_RESULT, options));
  }

  /** The library never removes its abort listener, so each request has its own signal. */
  async #limited<T>(
    { signal, idleMs = MAX_WAIT_MS, onProgress }: RequestLimits,
    work: (options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const stop = new AbortController();
    const abort = () => stop.abort('aborted');
    let expired: string | undefined;
    const timer = new CallTimer({ idleMs, totalMs: MAX_WAIT_MS }, (limit) => {
      const verb = limit === 'idleMs' ? 'did not respond' : 'did not finish';
      expired = `${verb} within ${(limit === 'idleMs' ? idleMs : MAX_WAIT_MS) / 1000} seconds`;
      abort();
    });
    const onprogress = (progress: Progress) => {
      timer.touch();
      onProgress?.(progress);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#timers.add(timer);
    if (this.#openRequests === 0) timer.resume();
    try {
      throwIfAborted(signal);
      const options = { signal: stop.signal, timeout: UNLIMITED_MS, ...(onProgress ? { onprogress } : {}) };
      return await work(options);
    } catch (error) {
      throw expired !== undefined && !signal.aborted ? new ServerUnavailable(expired) : error;
    } finally {
      timer.pause();
      this.#timers.delete(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  #handleRequests({ capabilities, roots, elicit, sample }: ServerRequests): void {
    this.#client.setRequestHandler('roots/list', () => ({ roots: [...roots()] }));
    if (capabilities.elicitation)
      this.#client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
        this.#whileTimersPause(() => elicit(params, mcpReq.signal)),
      );
    if (capabilities.sampling)
      this.#client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
        this.#whileTimersPause(() => sample(params, mcpReq.signal)),
      );
  }

  /** The server waits for the user meanwhile, so its calls take as long as that takes. */
  async #whileTimersPause<T>(work: () => Promise<T>): Promise<T> {
    this.#openRequests++;
    for (const timer of this.#timers) timer.pause();
    try {
      return await work();
    } finally {
      this.#openRequests--;
      if (this.#openRequests === 0) for (const timer of this.#timers) timer.resume();
    }
  }

  #listen(onListChanged: () => void): void {
    const { tools, prompts } = this.#client.getServerCapabilities() ?? {};
    const filter = {
      ...(tools?.listChanged ? { toolsListChanged: true } : {}),
      ...(prompts?.listChanged ? { promptsListChanged: true } : {}),
    };
    if (Object.keys(filter).length === 0) return;
    const open = () => this.#client.listen(filter, { timeout: MAX_WAIT_MS });
    this.#changes = new ChangeStream({ open, onReopened: onListChanged });
  }

  #failureOf(error: unknown): Error {
    if (error instanceof ServerUnavailable) return error;
    const demand = this.#signInDemand(error);
    if (demand) return demand;
    const text = this.#describe(error);
    return isServerError(error) ? new Error(text) : new ServerUnavailable(text);
  }

  #signInDemand(error: unknown): SignInRequired | undefined {
    if (error instanceof SignInRequired) return error;
    if (error instanceof UnauthorizedError || (this.#auth && statusOf(error) === 401)) return new SignInRequired({});
    if (!this.#auth || !(error instanceof InsufficientScopeError)) return undefined;
    const { requiredScope, resourceMetadataUrl } = error;
    return new SignInRequired({
      needsMoreScope: true,
      ...(requiredScope === undefined ? {} : { scope: requiredScope }),
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: String(resourceMetadataUrl) }),
    });
  }

  #describe(error: unknown): string {
    return describeFailure(isServerError(error) ? error : new Error(this.#transport.failure ?? describeFailure(error)));
  }
}

const NEVER = new AbortController().signal;

// The library's own time limit is not used.
const UNLIMITED_MS = 24 * 60 * 60 * 1000;

interface RequestLimits {
  readonly signal: AbortSignal;
  readonly idleMs?: number;
  readonly onProgress?: (progress: Progress) => void;
}

// Results are checked where they are used, each part by itself.
const ANY_RESULT: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'tau', validate: (value) => ({ value }) },
};

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  ErrorCode,
  McpError,
  type Progress,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { throwIfAborted, unlessAborted } from '../../agent/unless-aborted.ts';
import { messageOf } from '../../protocol/errors.ts';
import { version } from '../../protocol/generated/version.ts';
import type { HttpTransport } from './http-transport.ts';
import { MAX_WAIT_MS, type McpTarget } from './server-target.ts';
import { StdioTransport } from './stdio-transport.ts';
import { listTools, type ToolList } from './tool-list.ts';

// Limit of an error message from a server.
const MAX_MCP_ERROR_CHARACTERS = 1000;

/** The server did not respond, in contrast to an error response. */
export class ServerUnavailable extends Error {
  override readonly name = 'ServerUnavailable';
}

export interface McpConnectionOptions {
  readonly endpoint: McpTarget['endpoint'];
  /** Aborts connecting. */
  readonly signal: AbortSignal;
  /** Called once when an open connection closes by itself. */
  readonly onLost: (connection: McpConnection, failure: string) => void;
  readonly onToolsChanged: () => void;
}

export interface RemoteCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** How long the server may stay silent. */
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
}

/** An open connection to an MCP server. */
export class McpConnection {
  readonly #client: Client;
  readonly #transport: StdioTransport | HttpTransport;
  #closing: Promise<void> | undefined;

  private constructor(transport: StdioTransport | HttpTransport) {
    this.#transport = transport;
    // Results are validated here: the library would compile every schema of every tool.
    const jsonSchemaValidator = { getValidator: () => (data: unknown) => ({ valid: true, data }) as never };
    this.#client = new Client({ name: 'tau', version }, { capabilities: {}, jsonSchemaValidator });
  }

  /** Rejects with a readable message if the connection fails or is aborted. */
  static async open({ endpoint, signal, onLost, onToolsChanged }: McpConnectionOptions): Promise<McpConnection> {
    const connection = new McpConnection(await transportFor(endpoint));
    const { client, transport } = { client: connection.#client, transport: connection.#transport };
    client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged);
    try {
      throwIfAborted(signal);
      await unlessAborted(client.connect(transport, { signal, timeout: MAX_WAIT_MS }), signal);
      throwIfAborted(signal);
      if (transport.failure !== undefined) throw new Error(transport.failure);
    } catch (error) {
      const text = connection.#describe(error);
      await connection.close();
      throw new Error(text);
    }
    client.onclose = () => {
      if (connection.#closing === undefined) onLost(connection, transport.failure ?? 'closed the connection');
    };
    return connection;
  }

  async listTools(signal: AbortSignal): Promise<ToolList> {
    if (!this.#client.getServerCapabilities()?.tools) return { tools: [], problems: [] };
    try {
      return await listTools((cursor) => {
        const params = cursor === undefined ? {} : { cursor };
        return this.#request({ method: 'tools/list', params }, signal, { timeout: MAX_WAIT_MS });
      });
    } catch (error) {
      throw new Error(this.#describe(error));
    }
  }

  /** The result of the tool. An abort is sent to the server, and the call rejects at once. */
  async call({ tool, args, signal, timeoutMs, onProgress }: RemoteCall): Promise<unknown> {
    try {
      return await this.#request({ method: 'tools/call', params: { name: tool, arguments: args } }, signal, {
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        onprogress: onProgress,
      });
    } catch (error) {
      throwIfAborted(signal);
      if (error instanceof ServerUnavailable) throw error;
      if (isTimeout(error)) throw new ServerUnavailable(`did not answer within ${timeoutMs / 1000} seconds`);
      if (isServerError(error)) throw new Error(this.#describe(error));
      throw new ServerUnavailable(this.#describe(error));
    }
  }

  /** The library never removes its abort listener, so each request has its own signal. */
  async #request(
    request: { method: string; params: object },
    signal: AbortSignal,
    options: RequestOptions,
  ): Promise<unknown> {
    const stop = new AbortController();
    const abort = () => stop.abort('aborted');
    const timer = setTimeout(abort, MAX_WAIT_MS);
    signal.addEventListener('abort', abort, { once: true });
    try {
      throwIfAborted(signal);
      return await this.#client.request(request as never, ResultSchema, { ...options, signal: stop.signal });
    } catch (error) {
      const timedOut = stop.signal.aborted && !signal.aborted;
      throw timedOut ? new ServerUnavailable(`did not finish within ${MAX_WAIT_MS / 1000} seconds`) : error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#transport.close();
    return this.#closing;
  }

  #describe(error: unknown): string {
    const { failure } = this.#transport;
    if (failure !== undefined) return failure.slice(0, MAX_MCP_ERROR_CHARACTERS);
    const { code, name } = error as { code?: unknown; name?: unknown };
    if (code === ErrorCode.ConnectionClosed) return 'closed the connection';
    if (String(name).endsWith('ZodError')) return 'gave an answer that cannot be understood';
    const text = messageOf(error)
      .replace(/^MCP error -?\d+: /, '')
      .replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, '')
      .replace(/ \(redirectPolicy: .*\)$/, '');
    const isStatus = typeof code === 'number' && code >= 300 && code < 600;
    return (isStatus ? `answered with status ${code}: ${text}` : text).slice(0, MAX_MCP_ERROR_CHARACTERS);
  }
}

async function transportFor(endpoint: McpTarget['endpoint']): Promise<StdioTransport | HttpTransport> {
  if ('program' in endpoint) return new StdioTransport(endpoint.program);
  const { HttpTransport } = await import('./http-transport.ts');
  return new HttpTransport(endpoint.url, endpoint.headers);
}

const isTimeout = (error: unknown) => error instanceof McpError && error.code === ErrorCode.RequestTimeout;

// True if the server responded with an error.
const isServerError = (error: unknown) => error instanceof McpError && error.code !== ErrorCode.ConnectionClosed;

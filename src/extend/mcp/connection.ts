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
import { MAX_WAIT_MS } from './limits.ts';
import { StdioTransport } from './stdio-transport.ts';
import type { Target } from './target.ts';
import { listTools, type ToolList } from './tool-list.ts';

/** How much of what a server says of a failure is passed on. */
const MAX_WORDS = 1000;

/** A server that did not answer, rather than one that answered no. */
export class ServerTrouble extends Error {
  override readonly name = 'ServerTrouble';
}

export interface ConnectionOptions {
  readonly way: Target['way'];
  /** Tells that nobody waits for the connection any more. */
  readonly signal: AbortSignal;
  /** Called once, when a connection that was open has ended by itself. */
  readonly onLost: (connection: Connection, trouble: string) => void;
  readonly onToolsChanged: () => void;
}

/** One call of a tool. */
export interface RemoteCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** How long the server may say nothing. */
  readonly timeoutMs: number;
  readonly onProgress: (progress: Progress) => void;
}

/** A server that is spoken to. */
export class Connection {
  readonly #client: Client;
  readonly #transport: StdioTransport | HttpTransport;
  #closing: Promise<void> | undefined;

  private constructor(transport: StdioTransport | HttpTransport) {
    this.#transport = transport;
    // Answers are looked at here: the library would compile every schema of every tool.
    const jsonSchemaValidator = { getValidator: () => (data: unknown) => ({ valid: true, data }) as never };
    this.#client = new Client({ name: 'tau', version }, { capabilities: {}, jsonSchemaValidator });
  }

  /** Rejects, in words for people, when it cannot be made or nobody waits for it. */
  static async open({ way, signal, onLost, onToolsChanged }: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(await transportFor(way));
    const { client, transport } = { client: connection.#client, transport: connection.#transport };
    client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged);
    try {
      throwIfAborted(signal);
      await unlessAborted(client.connect(transport, { signal, timeout: MAX_WAIT_MS }), signal);
      throwIfAborted(signal);
      if (transport.trouble !== undefined) throw new Error(transport.trouble);
    } catch (error) {
      const words = connection.#words(error);
      await connection.close();
      throw new Error(words);
    }
    client.onclose = () => {
      if (connection.#closing === undefined) onLost(connection, transport.trouble ?? 'closed the connection');
    };
    return connection;
  }

  async listTools(signal: AbortSignal): Promise<ToolList> {
    if (!this.#client.getServerCapabilities()?.tools) return { tools: [], problems: [] };
    try {
      return await listTools((cursor) => {
        const params = cursor === undefined ? {} : { cursor };
        return this.#ask({ method: 'tools/list', params }, signal, { timeout: MAX_WAIT_MS });
      });
    } catch (error) {
      throw new Error(this.#words(error));
    }
  }

  /** What the server answered. An abort is told to the server and waits for nothing. */
  async call({ tool, args, signal, timeoutMs, onProgress }: RemoteCall): Promise<unknown> {
    try {
      return await this.#ask({ method: 'tools/call', params: { name: tool, arguments: args } }, signal, {
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        onprogress: onProgress,
      });
    } catch (error) {
      throwIfAborted(signal);
      if (error instanceof ServerTrouble) throw error;
      if (isTimeout(error)) throw new ServerTrouble(`did not answer within ${timeoutMs / 1000} seconds`);
      if (isAnswer(error)) throw new Error(this.#words(error));
      throw new ServerTrouble(this.#words(error));
    }
  }

  /** The library listens to a signal for good, and would cancel what has long been answered: each request has its own. */
  async #ask(
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
      const isSpent = stop.signal.aborted && !signal.aborted;
      throw isSpent ? new ServerTrouble(`did not finish within ${MAX_WAIT_MS / 1000} seconds`) : error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#transport.close();
    return this.#closing;
  }

  #words(error: unknown): string {
    const { trouble } = this.#transport;
    if (trouble !== undefined) return trouble.slice(0, MAX_WORDS);
    const { code, name } = error as { code?: unknown; name?: unknown };
    if (code === ErrorCode.ConnectionClosed) return 'closed the connection';
    if (String(name).endsWith('ZodError')) return 'gave an answer that cannot be understood';
    const words = messageOf(error)
      .replace(/^MCP error -?\d+: /, '')
      .replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, '')
      .replace(/ \(redirectPolicy: .*\)$/, '');
    const isStatus = typeof code === 'number' && code >= 300 && code < 600;
    return (isStatus ? `answered with status ${code}: ${words}` : words).slice(0, MAX_WORDS);
  }
}

async function transportFor(way: Target['way']): Promise<StdioTransport | HttpTransport> {
  if ('program' in way) return new StdioTransport(way.program);
  const { HttpTransport } = await import('./http-transport.ts');
  return new HttpTransport(way.url, way.headers);
}

const isTimeout = (error: unknown) => error instanceof McpError && error.code === ErrorCode.RequestTimeout;

/** Whether the server itself said no. */
const isAnswer = (error: unknown) => error instanceof McpError && error.code !== ErrorCode.ConnectionClosed;

import {
  type AuthProvider,
  isInitializeRequest,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { describeFailure, statusOf } from '../describe-failure.ts';
import { SESSION_UNKNOWN, SessionRefused } from '../mcp-errors.ts';
import type { WebEndpoint } from '../server-target.ts';
import { causeOf, limitMessageSize } from './bounded-response.ts';

// How long a server may take to end its session.
const TERMINATE_SESSION_MS = 1000;

// How long requests that were sent in a refused session may take to be refused as well.
const REFUSAL_GRACE_MS = 10_000;

/** How to reach an HTTP server. */
export interface HttpEndpoint extends Pick<WebEndpoint, 'url' | 'headers'> {
  /** Supplies and renews tokens. */
  readonly auth: AuthProvider | undefined;
}

/** The transport to an HTTP server. Headers reach its origin only: the library follows no redirect to another. */
export class HttpTransport extends StreamableHTTPClientTransport {
  #failure: string | undefined;
  /** Messages to which the server has not responded. */
  #pending = 0;
  #isRefused = false;
  #closed: Promise<void> | undefined;

  constructor({ url, headers, auth }: HttpEndpoint) {
    super(new URL(url), {
      requestInit: { headers: { ...headers } },
      ...(auth ? { authProvider: auth } : {}),
      fetch: (address, init) => this.#fetch(address, init),
    });
  }

  /** Why the connection failed. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Rejects with `SessionRefused` if the server no longer has the session; the transport then closes when nothing is pending. */
  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
    const hasSession = this.sessionId !== undefined && !isInitializeRequest(message);
    this.#pending++;
    try {
      return await super.send(message, options as Parameters<StreamableHTTPClientTransport['send']>[1]);
    } catch (error) {
      if (!hasSession || !isSessionRefusal(error)) throw error;
      if (!this.#isRefused) setTimeout(() => this.#fail(SESSION_UNKNOWN), REFUSAL_GRACE_MS).unref();
      this.#isRefused = true;
      throw new SessionRefused(SESSION_UNKNOWN);
    } finally {
      this.#pending--;
      // Later, so that this request is rejected with its own error.
      if (this.#isRefused && this.#pending === 0) setImmediate(() => this.#fail(SESSION_UNKNOWN));
    }
  }

  override close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const terminated = this.#failure === undefined ? this.terminateSession().catch(() => {}) : undefined;
    const limit = new Promise<void>((resolve) => void setTimeout(resolve, TERMINATE_SESSION_MS).unref());
    await Promise.race([terminated, limit]);
    await super.close();
  }

  async #fetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
    // The library reopens a listening stream; the next message detects a lost server.
    const onError = (error: unknown) => {
      if (init.method === 'POST' && !init.signal?.aborted) this.#fail(causeOf(error));
    };
    const response = await fetch(address, init).catch((error: unknown) => {
      onError(error);
      throw new Error(causeOf(error));
    });
    return response.body ? limitMessageSize(response, onError) : response;
  }

  #fail(failure: string): void {
    if (this.#closed !== undefined) return;
    this.#failure = failure;
    void this.close();
  }
}

// Servers refuse an unknown session with 404, older ones with 400.
function isSessionRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status === 404 || (status === 400 && /session/i.test(describeFailure(error)));
}

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { messageOf } from '../../protocol/errors.ts';
import { MAX_MESSAGE_BYTES } from './message-lines.ts';

// How long a server may take to end its session.
const TERMINATE_SESSION_MS = 1000;

const LF = 10;
const CR = 13;

/** The transport to an HTTP server. Headers reach its origin only: the library follows no redirect to another. */
export class HttpTransport extends StreamableHTTPClientTransport {
  #failure: string | undefined;
  #closed: Promise<void> | undefined;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    super(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: (address, init) => this.#fetch(address, init),
    });
  }

  /** Why the connection failed. */
  get failure(): string | undefined {
    return this.#failure;
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
    const isPost = init.method === 'POST';
    // The library reopens a listening stream; the next message detects a lost server.
    const onError = (error: unknown) => {
      if (isPost && !init.signal?.aborted) this.#fail(causeOf(error));
    };
    const response = await fetch(address, init).catch((error: unknown) => {
      onError(error);
      throw new Error(causeOf(error));
    });
    if (isPost && response.status === 404 && this.sessionId !== undefined) this.#fail('has forgotten the session');
    return response.body ? limitMessageSize(response, onError) : response;
  }

  #fail(failure: string): void {
    if (this.#closed !== undefined) return;
    this.#failure = failure;
    void this.close();
  }
}

// Limits the size of each message in a response.
function limitMessageSize(response: Response, onError: (error: unknown) => void): Response {
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let size = 0;
  let newlines = 0;
  const measure = (bytes: Uint8Array) => {
    if (!isStream) size += bytes.length;
    else {
      for (const byte of bytes) {
        if (byte !== CR) newlines = byte === LF ? newlines + 1 : 0;
        size = newlines > 1 ? 0 : size + 1;
      }
    }
    if (size > MAX_MESSAGE_BYTES) throw new Error(`sent more than ${MAX_MESSAGE_BYTES} bytes in one message`);
  };
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (isCancelled) return;
        if (done) return controller.close();
        measure(value);
        controller.enqueue(value);
      } catch (error) {
        if (isCancelled) return;
        onError(error);
        controller.error(error);
        await reader.cancel().catch(() => {});
      }
    },
    cancel: (reason) => {
      isCancelled = true;
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

// fetch stores the reason of a failure in `cause`.
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (!(cause instanceof Error)) return messageOf(error);
  return cause.message || ((cause as NodeJS.ErrnoException).code ?? messageOf(error));
}

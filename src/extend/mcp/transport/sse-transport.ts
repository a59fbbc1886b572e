import { type JSONRPCMessage, SSEClientTransport } from '@modelcontextprotocol/client';
import { messageOf } from '../../../protocol/errors.ts';
import { causeOf, limitMessageSize } from './bounded-response.ts';
import type { HttpEndpoint } from './http-transport.ts';

const STREAM_ENDED = 'closed the connection';

// The library's text for a status other than 401.
const REFUSED_POST = /^Error POSTing to endpoint \(HTTP (\d+)\): /;

/** The transport to a server of the HTTP+SSE kind of 2024: one event stream, and a POST for each message. */
export class SseTransport extends SSEClientTransport {
  #failure: string | undefined;
  #isOpen = false;
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

  override async start(): Promise<void> {
    await super.start();
    this.#isOpen = true;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    try {
      await super.send(message);
    } catch (error) {
      const text = messageOf(error);
      throw REFUSED_POST.test(text) ? new Error(text.replace(REFUSED_POST, 'responded with status $1: ')) : error;
    }
  }

  override close(): Promise<void> {
    this.#closed ??= super.close();
    return this.#closed;
  }

  async #fetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const onError = (error: unknown) => {
      if (!init.signal?.aborted) this.#fail(causeOf(error));
    };
    // A stream that is opened again belongs to another session.
    if (this.#isOpen && init.method !== 'POST') {
      this.#fail(STREAM_ENDED);
      throw new Error(STREAM_ENDED);
    }
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

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** What a model says, whatever API it is said in. */
export interface Reply {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: object }[];
  readonly usage?: { input: number; output: number; cacheRead?: number; cacheWrite?: number };
  /** Where it differs from what the content means. */
  readonly stop?: 'stop' | 'length' | 'toolUse';
  /** An error in mid-stream, after everything above. */
  readonly error?: { readonly type: string; readonly message: string };
}

/** How the bytes of a reply travel. */
export interface Manner {
  /** Bytes per write; all at once where it is absent. */
  readonly pieces?: number;
  readonly lineEnd?: '\n' | '\r\n' | '\r';
  /** Comments, as servers send to keep a connection alive, between all events. */
  readonly comments?: boolean;
  /** How many events are sent before the connection is cut, or falls silent. */
  readonly cutAfter?: number;
  readonly stallAfter?: number;
}

/** An answer that is no stream. */
export interface Refusal {
  readonly status: number;
  readonly message?: string;
  /** Instead of an error as this API words it. */
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SentEvent {
  readonly event?: string;
  readonly data: string;
}

/** How one API says things. */
export interface Api {
  /** The name of the API kind in models.json. */
  readonly name: string;
  readonly speak: (reply: Reply) => readonly SentEvent[];
  readonly errorBody: (refusal: Refusal) => string;
}

export interface Received {
  readonly path: string;
  /** That the client called from. */
  readonly port: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
  /** Settles when the client has left. */
  readonly closed: Promise<unknown>;
}

type Turn = (Reply & Manner) | Refusal;

/** A provider on a real socket that says what it was told to, one turn after another. */
export class ProviderDouble {
  readonly requests: Received[] = [];
  readonly #api: Api;
  readonly #turns: Turn[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #waiting: (() => void)[] = [];

  private constructor(api: Api) {
    this.#api = api;
  }

  static async start(api: Api): Promise<ProviderDouble> {
    const double = new ProviderDouble(api);
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    onTestFinished(() => double.close());
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What it says next; when nothing is left it refuses. */
  says(...turns: readonly Turn[]): void {
    this.#turns.push(...turns);
  }

  /** The request with this number, once it is there. */
  async request(index: number): Promise<Received> {
    while (!this.requests[index]) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.requests[index];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const turn = this.#turns.shift() ?? { status: 400, message: 'Nobody told this server what to say' };
    const closed = once(response, 'close');
    const { url: path = '', headers, socket } = request;
    this.requests.push({ path, port: socket.remotePort, headers, text, body: parsed(text), closed });
    for (const wake of this.#waiting.splice(0)) wake();
    if ('status' in turn) this.#refuse(response, turn);
    else await this.#stream(response, turn);
  }

  #refuse(response: ServerResponse, refusal: Refusal): void {
    response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
    response.end(refusal.body ?? this.#api.errorBody(refusal));
  }

  async #stream(response: ServerResponse, turn: Reply & Manner): Promise<void> {
    const { pieces, lineEnd = '\n', comments, cutAfter, stallAfter } = turn;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = this.#api.speak(turn).slice(0, cutAfter ?? stallAfter);
    const lines = events.flatMap(({ event, data }) => [
      ...(comments ? [': alive', ''] : []),
      ...(event === undefined ? [] : [`event: ${event}`]),
      `data: ${data}`,
      '',
    ]);
    const bytes = Buffer.from(lines.map((line) => line + lineEnd).join(''));
    for (let at = 0; at < bytes.length; at += pieces ?? bytes.length) {
      response.write(bytes.subarray(at, at + (pieces ?? bytes.length)));
      if (pieces !== undefined) await setImmediate();
    }
    if (cutAfter !== undefined) {
      // What was written must be on its way before the connection breaks.
      await new Promise((resolve) => response.write('', resolve));
      await setImmediate();
      response.destroy();
    } else if (stallAfter === undefined) response.end();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

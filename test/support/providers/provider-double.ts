import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** A model response, independent of the API. */
export interface ModelReply {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: object }[];
  readonly usage?: { input: number; output: number; cacheRead?: number; cacheWrite?: number };
  /** Overrides the stop reason that follows from the content. */
  readonly stop?: 'stop' | 'length' | 'toolUse';
  /** An error in mid-stream, after the content. */
  readonly error?: { readonly type: string; readonly message: string };
}

/** How the bytes of a stream are sent. */
export interface Delivery {
  /** Bytes per write; by default one write. */
  readonly chunkBytes?: number;
  readonly lineEnd?: '\n' | '\r\n' | '\r';
  /** Sends a keep-alive comment before every event. */
  readonly comments?: boolean;
  /** Number of events before the connection is cut or stalls. */
  readonly cutAfter?: number;
  readonly stallAfter?: number;
}

/** A recorded stream, byte for byte but for the delivery. */
export interface Recording {
  readonly recording: string;
  readonly chunkBytes?: number;
  readonly lineEnd?: '\n' | '\r\n' | '\r';
  /** Omits the blank line after the last event. */
  readonly unterminated?: boolean;
  /** Cuts the connection after the last byte. */
  readonly cut?: boolean;
}

/** A response that is not an event stream. */
export interface PlainResponse {
  readonly status: number;
  readonly message?: string;
  /** Replaces the error body of the API. */
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SentEvent {
  readonly event?: string;
  readonly data: string;
}

/** The encoding of one API. */
export interface Api {
  /** Name of the API in models.json. */
  readonly name: string;
  readonly encode: (reply: ModelReply) => readonly SentEvent[];
  readonly errorBody: (plain: PlainResponse) => string;
}

export interface ReceivedRequest {
  readonly path: string;
  /** The client's port. */
  readonly port: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
  /** Settles when the client has disconnected. */
  readonly closed: Promise<unknown>;
}

type QueuedResponse = (ModelReply & Delivery) | PlainResponse | Recording;

const NOTHING_QUEUED = { status: 400, message: 'No response is queued' };

/** A provider on a real socket that sends queued responses in order. */
export class ProviderDouble {
  readonly requests: ReceivedRequest[] = [];
  readonly #api: Api;
  readonly #responses: QueuedResponse[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #waiting: (() => void)[] = [];
  #rule: (request: Pick<ReceivedRequest, 'body'>) => QueuedResponse = () => NOTHING_QUEUED;

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

  /** Computes the response to every request for which none is queued. */
  respondBy(rule: (request: Pick<ReceivedRequest, 'body'>) => QueuedResponse): void {
    this.#rule = rule;
  }

  /** Queues responses; with an empty queue the double responds 400. */
  respondWith(...responses: readonly QueuedResponse[]): void {
    this.#responses.push(...responses);
  }

  /** Returns the request at this index as soon as it arrives. */
  async request(index: number): Promise<ReceivedRequest> {
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
    const queued = this.#responses.shift() ?? this.#rule({ body: parseOrUndefined(text) });
    const closed = once(response, 'close');
    const { url: path = '', headers, socket } = request;
    this.requests.push({ path, port: socket.remotePort, headers, text, body: parseOrUndefined(text), closed });
    for (const wake of this.#waiting.splice(0)) wake();
    if ('status' in queued) this.#sendPlain(response, queued);
    else if ('recording' in queued) await play(response, queued);
    else await this.#stream(response, queued);
  }

  #sendPlain(response: ServerResponse, plain: PlainResponse): void {
    response.writeHead(plain.status, { 'content-type': 'application/json', ...plain.headers });
    response.end(plain.body ?? this.#api.errorBody(plain));
  }

  async #stream(response: ServerResponse, queued: ModelReply & Delivery): Promise<void> {
    const { chunkBytes: pieces, lineEnd = '\n', comments, cutAfter, stallAfter } = queued;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = this.#api.encode(queued).slice(0, cutAfter ?? stallAfter);
    const lines = events.flatMap(({ event, data }) => [
      ...(comments ? [': alive', ''] : []),
      ...(event === undefined ? [] : [`event: ${event}`]),
      `data: ${data}`,
      '',
    ]);
    await writeInPieces(response, lines.map((line) => line + lineEnd).join(''), pieces);
    if (cutAfter !== undefined) await cut(response);
    else if (stallAfter === undefined) response.end();
  }
}

async function play(response: ServerResponse, recorded: Recording): Promise<void> {
  const { recording, chunkBytes, lineEnd = '\n', unterminated } = recorded;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = recording.replaceAll('\n', lineEnd);
  await writeInPieces(response, unterminated ? text.trimEnd() : text, chunkBytes);
  if (recorded.cut) await cut(response);
  else response.end();
}

async function writeInPieces(response: ServerResponse, text: string, pieces: number | undefined): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieces ?? bytes.length) {
    response.write(bytes.subarray(at, at + (pieces ?? bytes.length)));
    if (pieces !== undefined) await setImmediate();
  }
}

// Flushes the written bytes before the connection is cut.
async function cut(response: ServerResponse): Promise<void> {
  await new Promise((resolve) => response.write('', resolve));
  await setImmediate();
  response.destroy();
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

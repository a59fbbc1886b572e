import { type IncomingMessage, request } from 'node:http';

const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** A JSON object of unknown shape. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** A local port that may serve JSON. */
export class JsonServer {
  readonly port: number;
  readonly #signal: AbortSignal;

  constructor(port: number, signal: AbortSignal) {
    this.port = port;
    this.#signal = signal;
  }

  /** Requests the object at this path, with POST if there is a body; undefined on any failure. */
  async fetchObject(path: string, body?: object): Promise<JsonRecord | undefined> {
    try {
      const response = await this.#send(path, body === undefined ? undefined : JSON.stringify(body));
      return asObject(JSON.parse(await readBody(response)));
    } catch {
      return undefined;
    }
  }

  #send(path: string, body: string | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: this.port,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        agent: false,
        signal: this.#signal,
      });
      outgoing.once('response', resolve).once('error', reject).end(body);
    });
  }
}

async function readBody(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    if (response.statusCode !== 200) throw new Error('No answer');
    for await (const piece of response) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_LIST_BYTES) throw new Error('Too long');
    }
  } finally {
    response.destroy();
  }
  return Buffer.concat(pieces).toString();
}

/** The value if it is a JSON object. */
export const asObject = (value: unknown): JsonRecord | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;

/** The JSON objects in a list; none if the value is not a list. */
export const objectsIn = (value: unknown): JsonRecord[] =>
  Array.isArray(value) ? value.map(asObject).filter((one) => one !== undefined) : [];

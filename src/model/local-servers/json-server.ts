import { type IncomingMessage, request } from 'node:http';

/** A list of models is not longer than this. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** What a server said, of whatever form. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Something that listens on this machine and may or may not answer in JSON. */
export class JsonServer {
  readonly port: number;
  readonly #signal: AbortSignal;

  constructor(port: number, signal: AbortSignal) {
    this.port = port;
    this.#signal = signal;
  }

  /** The object at this path, asked for with a body where one is given; undefined for everything that is none. */
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

/** An object; nothing else that JSON can say. */
export const asObject = (value: unknown): JsonRecord | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;

/** The objects in a list; none where it is no list. */
export const objectsIn = (value: unknown): JsonRecord[] =>
  Array.isArray(value) ? value.map(asObject).filter((one) => one !== undefined) : [];

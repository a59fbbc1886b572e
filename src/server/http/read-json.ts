import type { IncomingMessage } from 'node:http';
import { HttpRefusal } from './responses.ts';

export const MAX_BODY_BYTES = 16 * 1024;

/** Reads the JSON object in the body of a request. The server limits the time. */
export async function readJsonBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  // A form of another site can send any type but this one.
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new HttpRefusal(415, 'unsupported_media_type', 'The body must be application/json');
  }
  const text = (await readBody(request)).toString();
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new HttpRefusal(400, 'bad_request', 'The body must be a JSON object');
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= MAX_BODY_BYTES) chunks.push(chunk);
        else reject(bodyTooLarge());
      })
      .on('end', () => resolve(Buffer.concat(chunks)))
      .on('error', reject)
      .on('close', () => reject(new HttpRefusal(400, 'bad_request', 'The body ended early')));
  });
}

/** The connection is closed instead of reading the rest. */
const bodyTooLarge = () =>
  new HttpRefusal(413, 'too_large', `A body may have ${MAX_BODY_BYTES} bytes`, { Connection: 'close' });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

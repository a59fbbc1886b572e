import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** The decompressed body of a response. Some servers compress it against the request headers. */
export async function decodedBody(response: IncomingMessage): Promise<Readable> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return response;
  const { createBrotliDecompress, createUnzip } = await import('node:zlib');
  const plain = encoding === 'br' ? createBrotliDecompress() : createUnzip();
  response.once('error', (error) => plain.destroy(error));
  return response.pipe(plain);
}

/** The time before the next attempt that a server requests, in milliseconds. */
export function retryAfter(headers: IncomingHttpHeaders, now = Date.now()): number | undefined {
  const exact = Number(headers['retry-after-ms']);
  if (Number.isFinite(exact) && exact >= 0 && headers['retry-after-ms'] !== '') return exact;
  const { 'retry-after': value } = headers;
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : Math.round(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

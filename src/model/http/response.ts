import type { IncomingMessage } from 'node:http';
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

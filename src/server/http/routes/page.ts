import type { PageFile } from '../page-files.ts';
import { type Call, type Route, reading } from '../route.ts';

/** The page and what belongs to it. */
export const page = (file: PageFile): Route => ({ methods: reading, answer: (call) => sendFile(call, file) });

function sendFile({ request, response }: Call, { type, body, etag, isImmutable }: PageFile): void {
  response.setHeader('Cache-Control', isImmutable ? 'max-age=31536000, immutable' : 'no-cache');
  response.setHeader('ETag', etag);
  if (isKnown(request.headers['if-none-match'], etag)) response.writeHead(304).end();
  else response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length }).end(body);
}

const isKnown = (header: string | undefined, etag: string) =>
  header?.split(',').some((known) => known.trim().replace(/^W\//, '') === etag || known.trim() === '*') ?? false;

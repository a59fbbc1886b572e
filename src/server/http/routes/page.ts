import type { PageFile } from '../page-file.ts';
import { type Call, type Route, reading } from '../route.ts';
import { takesGzip } from '../takes-gzip.ts';

/** The page and what belongs to it. */
export const page = (file: PageFile): Route => ({
  methods: reading,
  answer: async (call) => {
    await sendFile(call, file);
    announce(call);
  },
});

/** The page of a session is followed by a socket to it: there the agent can be ready by then. */
function announce({ request: { method }, admission: { path, query, grant }, services }: Call): void {
  const session = path === '/' && method === 'GET' ? query.get('session') : null;
  if (session && grant) services.expect(session, grant);
}

async function sendFile({ request, response }: Call, { type, isImmutable, plain, compressed }: PageFile) {
  const { etag, encoding, body } = (takesGzip(request.headers['accept-encoding']) && compressed) || plain;
  response.setHeader('Cache-Control', isImmutable ? 'max-age=31536000, immutable' : 'no-cache');
  response.setHeader('ETag', etag);
  if (compressed) response.setHeader('Vary', 'Accept-Encoding');
  if (isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end();
    return;
  }
  const bytes = await body();
  if (encoding) response.setHeader('Content-Encoding', encoding);
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes);
}

const isKnown = (header: string | undefined, etag: string) =>
  header?.split(',').some((known) => known.trim().replace(/^W\//, '') === etag || known.trim() === '*') ?? false;

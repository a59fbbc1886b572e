import type { PageFile } from '../page-files.ts';
import { type HttpExchange, type Route, readMethods } from '../route.ts';

/** Serves the page and its files. */
export const page = (file: PageFile): Route => ({
  methods: readMethods,
  handle: async (exchange) => {
    await sendFile(exchange, file);
    await prewarmSession(exchange);
  },
});

/** The page of a session soon opens its socket, so the agent is started already. */
async function prewarmSession({ request: { method }, admission, services }: HttpExchange): Promise<void> {
  const { path, query, grant } = admission;
  const session = path === '/' && method === 'GET' ? query.get('session') : null;
  if (session && grant) await services.prewarm(session, grant);
}

async function sendFile({ request, response }: HttpExchange, { type, isImmutable, plain, compressed }: PageFile) {
  const { etag, encoding, body } = (acceptsGzip(request.headers['accept-encoding']) && compressed) || plain;
  response.setHeader('Cache-Control', isImmutable ? 'max-age=31536000, immutable' : 'no-cache');
  response.setHeader('ETag', etag);
  if (compressed) response.setHeader('Vary', 'Accept-Encoding');
  if (matchesEtag(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end();
    return;
  }
  const bytes = await body();
  if (encoding) response.setHeader('Content-Encoding', encoding);
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes);
}

const matchesEtag = (header: string | undefined, etag: string) =>
  header?.split(',').some((known) => known.trim().replace(/^W\//, '') === etag || known.trim() === '*') ?? false;

/** Whether an `Accept-Encoding` header accepts gzip, by name or by a star. */
export function acceptsGzip(header = ''): boolean {
  const weights = new Map(header.toLowerCase().split(',').map(parseCoding));
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

function parseCoding(part: string): [string, number] {
  const [coding = '', ...parameters] = part.split(';').map((word) => word.trim());
  const weight = parameters.find((word) => word.startsWith('q='))?.slice(2);
  return [coding, weight === undefined ? 1 : Number(weight)];
}

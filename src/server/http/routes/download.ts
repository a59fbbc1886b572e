import { basename, extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HttpRefusal } from '../responses.ts';
import type { HttpExchange, Route } from '../route.ts';

/** The URL path of downloads. */
export const DOWNLOADS = '/api/exports/';

/** `GET /api/exports/<code>`: downloads an offered file once. A HEAD would use up the code. */
export const download: Route = { methods: ['GET'], handle: send };

async function send({ response, admission, services }: HttpExchange): Promise<void> {
  const taken = await services.exports.take(admission.path.slice(DOWNLOADS.length));
  if (!taken) throw new HttpRefusal(404, 'not_found', 'There is nothing to fetch here, or no longer');
  const { file, path, size } = taken;
  try {
    response.writeHead(200, {
      'Content-Type': extname(path) === '.html' ? 'text/html; charset=utf-8' : 'application/octet-stream',
      'Content-Length': size,
      'Content-Disposition': disposition(basename(path)),
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    // Bytes appended meanwhile are not sent.
    const content = file.createReadStream({ start: 0, end: Math.max(0, size - 1), autoClose: false });
    await pipeline(content, response, { end: false });
    // A truncated file cannot fill its announced length.
    if (content.bytesRead < size) response.destroy();
    else response.end();
  } finally {
    await file.close();
  }
}

/** Names the file twice: in ASCII for every browser, and exactly. */
function disposition(name: string): string {
  const plain = name.replace(/[^\w .()-]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percent)}`;
}

const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

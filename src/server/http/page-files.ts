import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

// Limits of a page folder.
const MAX_PAGE_FILES = 500;
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

const types: Readonly<Record<string, { readonly type: string; readonly isText: boolean }>> = {
  '.css': { type: 'text/css; charset=utf-8', isText: true },
  '.html': { type: 'text/html; charset=utf-8', isText: true },
  '.ico': { type: 'image/x-icon', isText: false },
  '.js': { type: 'text/javascript; charset=utf-8', isText: true },
  '.json': { type: 'application/json', isText: true },
  '.map': { type: 'application/json', isText: true },
  '.png': { type: 'image/png', isText: false },
  '.svg': { type: 'image/svg+xml', isText: true },
  '.txt': { type: 'text/plain; charset=utf-8', isText: true },
  '.webmanifest': { type: 'application/manifest+json', isText: true },
  '.woff2': { type: 'font/woff2', isText: false },
};
const UNKNOWN = { type: 'application/octet-stream', isText: false };

const HASHED = /-[A-Z0-9]{8}\.[a-z0-9.]+$/;

// Relative to the built program, and to this file.
const SCHEMA_PATHS = ['../../docs/schema.json', '../../../docs/schema.json'];

/**
 * Reads the files of the page and the protocol schema, by URL path. Only files read here are ever served, however a
 * path is written. A missing folder counts as empty.
 */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  let bytes = 0;
  for (const name of namesIn(folder)) {
    const file = readPageFile(join(folder, name));
    bytes += file.size;
    if (files.size >= MAX_PAGE_FILES || bytes > MAX_PAGE_BYTES) throw new Error(`${folder} holds too much for a page`);
    files.set(`/${name}`, file);
  }
  const schema = SCHEMA_PATHS.map((path) => join(import.meta.dirname, path)).find((path) => existsSync(path));
  if (schema !== undefined) files.set('/schema.json', readPageFile(schema));
  const index = files.get('/index.html');
  if (index) files.set('/', index);
  return files;
}

function readPageFile(path: string): PageFile {
  const kind = types[extname(path)] ?? UNKNOWN;
  return new PageFile({ ...kind, body: readFileSync(path), isImmutable: HASHED.test(path) });
}

/** The regular files below a folder. Links are skipped, since they could lead out of it. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      // Not by a recursive `readdir`: some versions of Node follow links to folders.
      if (entry.isDirectory()) return namesIn(join(folder, entry.name)).map((name) => `${entry.name}/${name}`);
      return entry.isFile() ? [entry.name] : [];
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

// Smaller files do not profit from compression.
const MIN_COMPRESSED_BYTES = 1024;

interface FileContent {
  readonly type: string;
  readonly body: Buffer;
  // Images and fonts are compressed already.
  readonly isText: boolean;
  readonly isImmutable: boolean;
}

/** An encoding of a file with its ETag. */
export interface FileEncoding {
  readonly etag: string;
  readonly encoding?: 'gzip';
  readonly body: () => Promise<Buffer>;
}

/** A file of the page, plain or compressed. */
export class PageFile {
  readonly type: string;
  readonly size: number;
  readonly isImmutable: boolean;
  readonly plain: FileEncoding;
  /** Undefined if compression would not help. */
  readonly compressed: FileEncoding | undefined;
  #gzipped: Promise<Buffer> | undefined;

  constructor({ type, body, isText, isImmutable }: FileContent) {
    const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
    this.type = type;
    this.size = body.length;
    this.isImmutable = isImmutable;
    this.plain = { etag: `"${hash}"`, body: async () => body };
    this.compressed =
      isText && body.length >= MIN_COMPRESSED_BYTES
        ? { etag: `"${hash}-gzip"`, encoding: 'gzip', body: () => (this.#gzipped ??= gzipBody(body)) }
        : undefined;
  }
}

/** Runs once, on the first request. */
async function gzipBody(body: Buffer): Promise<Buffer> {
  const { constants, gzip } = await import('node:zlib');
  return new Promise((resolve, reject) => {
    gzip(body, { level: constants.Z_BEST_COMPRESSION }, (error, result) => (error ? reject(error) : resolve(result)));
  });
}

import { createHash } from 'node:crypto';

// Smaller files do not profit from compression.
const MIN_COMPRESSED_BYTES = 1024;

interface FileContent {
  readonly type: string;
  readonly body: Buffer;
  // Images and fonts are compressed already.
  readonly isText: boolean;
  readonly isImmutable: boolean;
}

// An encoding of a file with its ETag.
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

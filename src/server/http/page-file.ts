import { createHash } from 'node:crypto';

/** A file below this has nothing to gain. */
const MIN_COMPRESSED_BYTES = 1024;

interface FileContent {
  readonly type: string;
  readonly body: Buffer;
  /** Pictures and fonts are as small as they get. */
  readonly isText: boolean;
  /** Its name holds a hash of what is in it. */
  readonly isImmutable: boolean;
}

/** The bytes that are sent, and the tag that tells them from others. */
export interface FileEncoding {
  readonly etag: string;
  readonly encoding?: 'gzip';
  readonly body: () => Promise<Buffer>;
}

/** A file that is sent as it is, or compressed to whoever takes that. */
export class PageFile {
  readonly type: string;
  readonly size: number;
  readonly isImmutable: boolean;
  readonly plain: FileEncoding;
  /** Undefined where it would not help. */
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

/** Done once, for the first who asks. */
async function gzipBody(body: Buffer): Promise<Buffer> {
  const { constants, gzip } = await import('node:zlib');
  return new Promise((resolve, reject) => {
    gzip(body, { level: constants.Z_BEST_COMPRESSION }, (error, result) => (error ? reject(error) : resolve(result)));
  });
}

import { open, rm } from 'node:fs/promises';
import { type ErrorCode, Refusal } from '../../../protocol/errors.ts';
import { writePage } from '../../../store/sessions/export/export-session.ts';
import type { ChannelMessage } from './node-channel.ts';

// Bytes of a page in one message: messages of other sessions travel between two pieces.
const EXPORT_PIECE_BYTES = 256 * 1024;

/** The pages that agents of this node wrote for one client of another node, by the number of the request. */
export class ExportedPages {
  readonly #newPath: () => string;
  readonly #paths = new Map<number, string>();

  constructor(newPath: () => string) {
    this.#newPath = newPath;
  }

  /** The path for the page of a request. */
  create(request: number): string {
    const path = this.#newPath();
    this.#paths.set(request, path);
    return path;
  }

  /** The next bytes of a page, empty at its end. */
  async read(request: number, from: number): Promise<Uint8Array> {
    const path = this.#paths.get(request);
    if (path === undefined) throw new Refusal('not_found', 'There is no such page');
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(EXPORT_PIECE_BYTES), 0, EXPORT_PIECE_BYTES, from);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Does not reject: a page that cannot be removed is removed with the folder of this server. */
  async remove(request: number): Promise<void> {
    const path = this.#paths.get(request);
    this.#paths.delete(request);
    if (path !== undefined) await rm(path, { force: true }).catch(() => {});
  }

  async removeAll(): Promise<void> {
    for (const request of [...this.#paths.keys()]) await this.remove(request);
  }
}

interface AwaitedPiece {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/** Copies pages from the node that made them, a piece at a time. */
export class PageDownloads {
  readonly #send: (message: ChannelMessage) => void;
  readonly #awaited = new Map<number, AwaitedPiece>();
  #cancelled: Refusal | undefined;

  constructor(send: (message: ChannelMessage) => void) {
    this.#send = send;
  }

  /** Copies the page of a request to a path of this node. */
  async save(request: number, path: string): Promise<void> {
    try {
      await writePage(path, path, this.#piecesOf(request));
    } finally {
      this.#awaited.delete(request);
      this.#send({ k: 'discard', r: request });
    }
  }

  /** Handles a piece of a page, or the refusal of one. */
  receive({ r, data, code, message }: ChannelMessage): void {
    const awaited = this.#awaited.get(Number(r));
    if (typeof data === 'string') awaited?.resolve(Buffer.from(data, 'base64'));
    else awaited?.reject(new Refusal(code as ErrorCode, String(message)));
  }

  /** The other node is gone, or the client. */
  cancel(reason: Refusal): void {
    this.#cancelled = reason;
    for (const { reject } of this.#awaited.values()) reject(reason);
  }

  async *#piecesOf(request: number): AsyncGenerator<Uint8Array> {
    for (let from = 0; ; ) {
      if (this.#cancelled) throw this.#cancelled;
      const piece = await new Promise<Uint8Array>((resolve, reject) => {
        this.#awaited.set(request, { resolve, reject });
        this.#send({ k: 'pull', r: request, from });
      });
      if (piece.length === 0) return;
      from += piece.length;
      yield piece;
    }
  }
}

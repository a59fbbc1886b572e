import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { Refusal } from '../../../protocol/errors.ts';
import type { SessionHeader } from '../../../protocol/generated/vocabulary.ts';
import { CURRENT_VERSION, notASession, readHeader } from '../header.ts';
import { scan } from '../indexing/scan.ts';
import { migrate } from '../migrate.ts';

// Larger than any header.
const BLOCK_BYTES = 256 * 1024;

const LF = 0x0a;

/**
 * A read-only snapshot of a session file: takes no lock and repairs nothing.
 *
 * A session file only grows at its end, so the snapshot stays valid while it is written.
 */
export class SessionSource {
  readonly #fd: number;
  readonly #size: number;
  readonly #version: number;

  constructor(path: string) {
    this.#fd = openForReading(path);
    try {
      const stats = fstatSync(this.#fd);
      const header = stats.isFile() ? readHeader(this.#fd) : undefined;
      if (!header) throw notASession(path);
      this.#size = stats.size;
      this.#version = header.version ?? 1;
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** Entries of version 1 have no ids, so they always count as messages. */
  get hasMessages(): boolean {
    if (this.#version < 2) return true;
    let found = false;
    scan(this.#fd, ({ type }) => {
      found = type === 'message';
      return found ? 'stop' : undefined;
    });
    return found;
  }

  /**
   * The lines in blocks, migrated to the current version; the header without the path of the parent session. The last
   * line may be torn, and any line malformed.
   */
  *blocks(): Generator<Buffer> {
    const stored = this.#storedBlocks();
    const { value: first, done } = stored.next();
    if (done) return;
    yield* withoutParent(first);
    yield* stored;
  }

  *#storedBlocks(): Generator<Buffer, void> {
    if (this.#version < CURRENT_VERSION) {
      yield Buffer.from(migrate(readFileSync(this.#fd, 'utf8'), this.#version));
      return;
    }
    for (let position = 0; position < this.#size; ) {
      const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.#size - position));
      const filled = readSync(this.#fd, block, 0, block.length, position);
      if (filled === 0) return;
      yield block.subarray(0, filled);
      position += filled;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** The first block of a session, which contains the whole header. */
function withoutParent(block: Buffer): Buffer[] {
  const lineEnd = block.indexOf(LF);
  const end = lineEnd === -1 ? block.length : lineEnd;
  const { parentSession, ...header } = JSON.parse(block.toString('utf8', 0, end)) as SessionHeader;
  return parentSession === undefined ? [block] : [Buffer.from(JSON.stringify(header)), block.subarray(end)];
}

function openForReading(path: string): number {
  try {
    // Non-blocking: opening a pipe would wait for a writer.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Refusal('session_not_found', `Session not found: ${path}`);
    if (code === 'EACCES') throw new Refusal('permission_denied', `Session file cannot be read: ${path}`);
    throw notASession(path);
  }
}

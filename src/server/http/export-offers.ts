import { constants, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Refusal } from '../../protocol/errors.ts';
import { randomBytes } from '../../system/random-bytes.ts';
import { type Grant, mayOpen } from '../auth/grant.ts';

/** How long an offer is valid, and how many are at a time. */
export const OFFER_MS = 10 * 60_000;
export const MAX_OFFERS = 200;

interface Offer {
  readonly path: string;
  readonly grant: Grant;
  // Whether the server wrote the file to its own folder.
  readonly isOwn: boolean;
  readonly until: number;
  // The identity of the offered file: a replacement is not sent.
  readonly dev: number;
  readonly ino: number;
}

/** An opened file; the caller closes it. */
export interface TakenFile {
  readonly path: string;
  readonly file: FileHandle;
  readonly size: number;
}

/** Files that can be downloaded once each with a secret code. */
export class ExportOffers {
  readonly #isGrantValid: (grant: Grant) => boolean;
  readonly #now: () => number;
  readonly #offers = new Map<string, Offer>();

  constructor(isGrantValid: (grant: Grant) => boolean, now: () => number = () => performance.now()) {
    this.#isGrantValid = isGrantValid;
    this.#now = now;
  }

  /** Offers a file and returns the code. Beyond the limit the oldest offer is dropped. */
  offer(path: string, grant: Grant, { isOwn = false } = {}): string {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile() || !(isOwn || mayOpen(grant, path)))
      throw new Refusal('not_found', 'There is no file to fetch');
    this.#forgetOld();
    const code = randomBytes(32).toString('base64url');
    const until = this.#now() + OFFER_MS;
    this.#offers.set(code, { path, grant, isOwn, until, dev: stats.dev, ino: stats.ino });
    return code;
  }

  /** Opens the file of a code, once. Undefined if the code is unknown or expired, or the file is no longer allowed. */
  async take(code: string): Promise<TakenFile | undefined> {
    const offer = this.#offers.get(code);
    if (!this.#offers.delete(code) || !offer || offer.until <= this.#now() || !this.#isGrantValid(offer.grant))
      return undefined;
    const file = await openAsIs(offer.path);
    if (!file) return undefined;
    try {
      const stats = await file.stat();
      const isSame = stats.isFile() && stats.dev === offer.dev && stats.ino === offer.ino;
      if (isSame && (offer.isOwn || mayOpen(offer.grant, offer.path)))
        return { path: offer.path, file, size: stats.size };
    } catch {
      // Treated as missing.
    }
    await file.close();
    return undefined;
  }

  #forgetOld(): void {
    for (const [code, { until }] of this.#offers) {
      if (until > this.#now() && this.#offers.size < MAX_OFFERS) break;
      this.#offers.delete(code);
    }
  }
}

/** Opens a file without following a link and without blocking on a FIFO. */
const openAsIs = (path: string): Promise<FileHandle | undefined> =>
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);

import { messageOf } from '../../protocol/errors.ts';
import { ModelFailure } from '../request.ts';
import { untilAbort } from '../until-abort.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** How requests to a cloud are authorised. */
export interface CloudAccess {
  /** The variables of the provider: those of auth.json win over those of the process. */
  readonly env: Environment;
  /** The credentials that models.json names. */
  readonly credentials?: CredentialKind;
  readonly cache: CredentialCache;
}

/** Where a provider without a key gets its credentials: from AWS, Entra ID or Google's application defaults. */
export type CredentialKind = 'aws' | 'entra' | 'adc';

export interface ExpiringValue<T> {
  readonly value: T;
  /** Milliseconds since 1970; undefined if it does not expire. */
  readonly expiresAt: number | undefined;
}

interface CacheEntry {
  /** Is shared by concurrent callers while it is obtained. */
  readonly pending: Promise<ExpiringValue<unknown>>;
  /** Undefined while it is obtained. */
  obtained?: ExpiringValue<unknown>;
}

// A credential with less time left is obtained again.
const MIN_CREDENTIAL_LIFE_MS = 5 * 60_000;

// The oldest entry is dropped first.
const MAX_CACHED_CREDENTIALS = 20;

/** The credentials that this process has obtained. Each is obtained once at a time, however many requests need it. */
export class CredentialCache {
  readonly #entries = new Map<string, CacheEntry>();

  /** The credential of this key. Rejects with `ModelFailure`, or with the abort reason of this caller. */
  async get<T>(key: string, obtain: () => Promise<ExpiringValue<T>>, signal: AbortSignal): Promise<T> {
    const known = this.#entries.get(key);
    const entry = known && isUsable(known) ? known : this.#obtain(key, obtain);
    const { value } = await untilAbort(entry.pending, signal);
    return value as T;
  }

  /** Removes a credential that a server has rejected. */
  drop(key: string): void {
    this.#entries.delete(key);
  }

  #obtain<T>(key: string, obtain: () => Promise<ExpiringValue<T>>): CacheEntry {
    const [oldest = ''] = this.#entries.keys();
    if (this.#entries.size >= MAX_CACHED_CREDENTIALS) this.#entries.delete(oldest);
    const entry: CacheEntry = { pending: obtainValid(obtain) };
    this.#entries.set(key, entry);
    entry.pending.then(
      (obtained) => Object.assign(entry, { obtained }),
      () => this.#entries.get(key) === entry && this.#entries.delete(key),
    );
    return entry;
  }
}

const isUsable = ({ obtained }: CacheEntry) =>
  obtained?.expiresAt === undefined || obtained.expiresAt - Date.now() >= MIN_CREDENTIAL_LIFE_MS;

async function obtainValid<T>(obtain: () => Promise<ExpiringValue<T>>): Promise<ExpiringValue<T>> {
  try {
    const obtained = await obtain();
    if (obtained.expiresAt !== undefined && obtained.expiresAt <= Date.now())
      throw new Error('The credentials have expired: sign in again');
    return obtained;
  } catch (error) {
    throw error instanceof ModelFailure ? error : new ModelFailure('auth_failed', messageOf(error));
  }
}

import { messageOf } from '../../protocol/errors.ts';
import { recordTokenUse } from '../../store/tokens/token-store.ts';
import type { Log } from '../../system/log.ts';

/** A token that is used all the time is written down this often. */
const USE_SPACING_MS = 60_000;

/** Writes down when tokens were used. What goes wrong with that keeps nobody out. */
export class TokenUseLog {
  readonly #agentDir: string;
  readonly #log: Log | undefined;
  readonly #recordedAt = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor(agentDir: string, log: Log | undefined) {
    this.#agentDir = agentDir;
    this.#log = log;
  }

  record(id: string, lastUsedAt: string | undefined): void {
    const at = Date.now();
    const previous = Math.max(this.#recordedAt.get(id) ?? 0, Date.parse(lastUsedAt ?? '') || 0);
    if (at - previous < USE_SPACING_MS) return;
    this.#recordedAt.set(id, at);
    this.#writing = this.#writing
      .then(() => recordTokenUse(this.#agentDir, { id, at }))
      .catch((error: unknown) => this.#log?.write('warn', 'auth', `A use was not written down: ${messageOf(error)}`));
  }

  /** Settles when all of it is written. */
  settled(): Promise<void> {
    return this.#writing;
  }
}

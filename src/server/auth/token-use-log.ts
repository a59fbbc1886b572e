import { messageOf } from '../../protocol/errors.ts';
import { recordTokenUse } from '../../store/tokens/token-store.ts';
import type { Log } from '../../system/log.ts';

// The use of a busy token is recorded this often.
const USE_SPACING_MS = 60_000;

/** Records when tokens were last used. A failure to record is logged and rejects no token. */
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

  settled(): Promise<void> {
    return this.#writing;
  }
}

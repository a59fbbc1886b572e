import type { McpSubscription } from '@modelcontextprotocol/client';
import { rpcCodeOf } from './describe-failure.ts';

// Delay before a stream that ended or failed is opened again. It doubles until a stream lasts.
const FIRST_RELISTEN_MS = 5000;
const MAX_RELISTEN_MS = 5 * 60 * 1000;
const LASTING_STREAM_MS = 60_000;

const METHOD_NOT_FOUND = -32601;

interface ChangeStreamOptions {
  readonly open: () => Promise<Pick<McpSubscription, 'closed'>>;
  /** Called when the stream is open again: changes in the meantime were not received. */
  readonly onReopened: () => void;
}

/** Keeps the stream open on which a server of revision 2026-07-28 reports changes, unless the server has no such stream. */
export class ChangeStream {
  readonly #options: ChangeStreamOptions;
  /** Streams in a row that failed or did not last. */
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Ends the attempts to open the stream. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const isReopened = this.#timer !== undefined;
    try {
      const { closed } = await this.#options.open();
      const openedAt = performance.now();
      if (isReopened && !this.#isClosed) this.#options.onReopened();
      await closed;
      if (performance.now() - openedAt >= LASTING_STREAM_MS) this.#failures = 0;
    } catch (error) {
      if (rpcCodeOf(error) === METHOD_NOT_FOUND) return;
    }
    if (this.#isClosed) return;
    const delay = Math.min(FIRST_RELISTEN_MS * 2 ** this.#failures++, MAX_RELISTEN_MS);
    this.#timer = setTimeout(() => void this.#run(), delay).unref();
  }
}

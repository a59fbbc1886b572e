import type { Broadcast } from '../fanout/broadcast.ts';
import type { WarningEvent } from '../protocol/generated/vocabulary.ts';

export type WarningSource = WarningEvent['source'];

/** A warning about a file or an extension that the agent ignores, in part or as a whole. */
export type Warning = Pick<WarningEvent, 'source' | 'message'>;

// Further warnings are neither printed nor published.
const MAX_WARNINGS_PUBLISHED = 500;

/** Publishes each warning of an agent once. Those before the first client are kept for it. */
export class Warnings {
  readonly #broadcast: Broadcast;
  readonly #known = new Set<string>();
  #waiting: WarningEvent[] | undefined = [];

  constructor(broadcast: Broadcast) {
    this.#broadcast = broadcast;
  }

  /** Prints new warnings to stderr and publishes them. */
  report(source: WarningSource, messages: readonly string[]): void {
    for (const message of messages) if (this.publish({ source, message })) process.stderr.write(`tau: ${message}\n`);
  }

  /** Returns whether the warning is new. */
  publish({ source, message }: Warning): boolean {
    if (this.#known.has(message) || this.#known.size >= MAX_WARNINGS_PUBLISHED) return false;
    this.#known.add(message);
    const event: WarningEvent = { type: 'warning', source, message };
    if (this.#waiting) this.#waiting.push(event);
    else this.#broadcast.publish(event);
    return true;
  }

  /** The warnings so far, for the first client. Later ones are published at once. */
  takeEarly(): readonly WarningEvent[] {
    const early = this.#waiting ?? [];
    this.#waiting = undefined;
    return early;
  }
}

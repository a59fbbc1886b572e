import type { InputLine } from '../../wire/json-lines.ts';
import { type Inbound, parseInbound } from '../../wire/inbound.ts';
import { CommandRate } from './command-rate.ts';
import { splitLines } from './split-lines.ts';

/** A line that was understood as far as it can be. `refuse`: there is no room for it. */
export interface InboundLine {
  readonly inbound: Inbound;
  readonly verdict: 'ok' | 'refuse';
}

/** A line that is still to be understood. */
interface RatedLine {
  readonly line: InputLine;
  readonly verdict: InboundLine['verdict'];
}

interface InboxOptions {
  readonly onLine: (line: InboundLine) => void;
  /** Far too much has come. */
  readonly onFlood: () => void;
}

/** What one client sends, line by line. What comes while it is on its way into a session waits until it is there. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #rate = new CommandRate();
  #held: RatedLine[] | undefined = [];
  #isClosed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** How many lines wait. */
  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  /** Looks at nothing until it is released. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const rated of held) this.#deliver(rated);
  }

  receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    const lines = splitLines(bytes);
    if (lines === 'too many') this.#options.onFlood();
    else if (lines.length === 0) this.#verdictFor(0);
    else for (const line of lines) this.#receiveLine(line);
  }

  /** Takes nothing any more: the client is gone. */
  close(): void {
    this.#isClosed = true;
  }

  #receiveLine(line: InputLine): void {
    const verdict = this.#verdictFor('text' in line ? line.text.length : line.tooLong);
    if (verdict === 'close') return;
    if (this.#held) this.#held.push({ line, verdict });
    else this.#deliver({ line, verdict });
  }

  #deliver({ line, verdict }: RatedLine): void {
    if (!this.#isClosed) this.#options.onLine({ inbound: parseInbound(line), verdict });
  }

  #verdictFor(bytes: number): 'ok' | 'refuse' | 'close' {
    const verdict = this.#rate.take(bytes);
    if (verdict === 'close') this.#options.onFlood();
    return verdict;
  }
}

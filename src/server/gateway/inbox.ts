import type { InputLine } from '../../wire/json-lines.ts';
import { type Inbound, parseInbound } from '../../wire/inbound.ts';
import { CommandRate } from './command-rate.ts';
import { linesIn } from './message-lines.ts';

/** A line that was understood as far as it can be. `refuse`: there is no room for it. */
export interface Letter {
  readonly inbound: Inbound;
  readonly verdict: 'ok' | 'refuse';
}

/** A line that is still to be understood. */
interface Weighed {
  readonly line: InputLine;
  readonly verdict: Letter['verdict'];
}

interface InboxOptions {
  readonly take: (letter: Letter) => void;
  /** Far too much has come. */
  readonly tooMuch: () => void;
}

/** What one client sends, line by line. What comes while it is on its way into a session waits until it is there. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #rate = new CommandRate();
  #early: Weighed[] | undefined = [];
  #isOver = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#early !== undefined;
  }

  /** How many lines wait. */
  get waiting(): number {
    return this.#early?.length ?? 0;
  }

  /** Looks at nothing until it is released. */
  hold(): void {
    this.#early ??= [];
  }

  release(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const weighed of early) this.#take(weighed);
  }

  receive(bytes: Buffer): void {
    if (this.#isOver) return;
    const lines = linesIn(bytes);
    if (lines === 'too many') this.#options.tooMuch();
    else if (lines.length === 0) this.#weigh(0);
    else for (const line of lines) this.#arrived(line);
  }

  /** Takes nothing any more: the client is gone. */
  close(): void {
    this.#isOver = true;
  }

  #arrived(line: InputLine): void {
    const verdict = this.#weigh('text' in line ? line.text.length : line.tooLong);
    if (verdict === 'close') return;
    if (this.#early) this.#early.push({ line, verdict });
    else this.#take({ line, verdict });
  }

  #take({ line, verdict }: Weighed): void {
    if (!this.#isOver) this.#options.take({ inbound: parseInbound(line), verdict });
  }

  #weigh(bytes: number): 'ok' | 'refuse' | 'close' {
    const verdict = this.#rate.take(bytes);
    if (verdict === 'close') this.#options.tooMuch();
    return verdict;
  }
}

import { type Inbound, parseInbound } from '../../wire/inbound.ts';
import { type InputLine, LineReader } from '../../wire/json-lines.ts';
import { MAX_FRAME_BYTES } from './client-socket.ts';
import { CommandRate } from './command-limits.ts';

/** A parsed line. `refuse`: it exceeds the rate. */
export interface InboundLine {
  readonly inbound: Inbound;
  readonly verdict: 'ok' | 'refuse';
}

// A line with its verdict, not parsed yet.
interface RatedLine {
  readonly line: InputLine;
  readonly verdict: InboundLine['verdict'];
}

interface InboxOptions {
  readonly onLine: (line: InboundLine) => void;
  // The client sent far more than the rate allows.
  readonly onFlood: () => void;
}

/** The input of one client, line by line. Lines that arrive while a session is being opened are held. */
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

  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  /** Delivers nothing until `release`. */
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

// More lines in one message would exceed the rate in any case.
const MAX_LINES_PER_MESSAGE = 2000;

const LF = 10;

/** Splits a message into lines, unless it holds too many. */
function splitLines(bytes: Buffer): readonly InputLine[] | 'too many' {
  let count = 1;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, end + 1)) {
    if (++count > MAX_LINES_PER_MESSAGE) return 'too many';
  }
  const reader = new LineReader(MAX_FRAME_BYTES);
  return [...reader.push(bytes), ...reader.end()];
}

import { type Line, LineReader } from '../../wire/json-lines.ts';
import { type Inbound, understand } from '../../wire/request.ts';
import { BURST, CommandRate, MAX_EXCESS } from './command-rate.ts';
import { MAX_FRAME_BYTES } from './wire.ts';

/** Lines that one message may hold. */
export const MAX_LINES = BURST + MAX_EXCESS;

const LF = 10;

/** A line that was understood as far as it can be. `refuse`: there is no room for it. */
export interface Letter {
  readonly inbound: Inbound;
  readonly line: Line;
  readonly verdict: 'ok' | 'refuse';
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
  #early: Line[] | undefined = [];
  #isOver = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#early !== undefined;
  }

  /** Looks at nothing until it is released. */
  hold(): void {
    this.#early ??= [];
  }

  release(): void {
    const lines = this.#early ?? [];
    this.#early = undefined;
    for (const line of lines) this.#take(line);
  }

  receive(bytes: Buffer): void {
    if (this.#isOver) return;
    const lines = linesIn(bytes);
    if (lines === 'too many') this.#options.tooMuch();
    else if (lines.length === 0) this.#weigh(0);
    else if (this.#early) this.#early.push(...lines);
    else for (const line of lines) this.#take(line);
  }

  /** Takes nothing any more: the client is gone. */
  close(): void {
    this.#isOver = true;
  }

  #take(line: Line): void {
    if (this.#isOver) return;
    const verdict = this.#weigh('text' in line ? line.text.length : line.tooLong);
    if (verdict !== 'close') this.#options.take({ inbound: understand(line), line, verdict });
  }

  #weigh(bytes: number): 'ok' | 'refuse' | 'close' {
    const verdict = this.#rate.take(bytes);
    if (verdict === 'close') this.#options.tooMuch();
    return verdict;
  }
}

/** The lines of a message, unless they are more than anybody may send. */
function linesIn(bytes: Buffer): readonly Line[] | 'too many' {
  let count = 1;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, end + 1)) {
    if (++count > MAX_LINES) return 'too many';
  }
  const reader = new LineReader(MAX_FRAME_BYTES);
  return [...reader.push(bytes), ...reader.end()];
}

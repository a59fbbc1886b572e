// Longer lines are cut.
const MAX_STDERR_LINE = 1000;

// Lines of one agent that are passed on in a window; the others are counted.
const MAX_STDERR_LINES = 50;
const STDERR_WINDOW_MS = 10_000;

interface StderrCallbacks {
  readonly onLine: (line: string) => void;
  /** Called when the next window begins, or at the end. */
  readonly onOmitted: (lines: number) => void;
}

/** Cuts the stderr of an agent into lines: of limited length, and a limited number in a window of time. */
export class StderrLines {
  readonly #callbacks: StderrCallbacks;
  #rest = '';
  #windowStart = 0;
  #lines = 0;

  constructor(callbacks: StderrCallbacks) {
    this.#callbacks = callbacks;
  }

  push(text: string, now = performance.now()): void {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) this.#emit(line, now);
    this.#rest = (this.#rest + rest).slice(0, MAX_STDERR_LINE + 1);
  }

  /** Passes on the last line without a line break, and the number of omitted lines. */
  end(now = performance.now()): void {
    if (this.#rest !== '') this.#emit('', now);
    this.#reportOmitted();
  }

  #emit(end: string, now: number): void {
    const line = (this.#rest + end).trimEnd();
    this.#rest = '';
    if (line === '') return;
    if (now - this.#windowStart >= STDERR_WINDOW_MS) {
      this.#reportOmitted();
      this.#windowStart = now;
    }
    this.#lines++;
    if (this.#lines > MAX_STDERR_LINES) return;
    this.#callbacks.onLine(line.length > MAX_STDERR_LINE ? `${line.slice(0, MAX_STDERR_LINE)}…` : line);
  }

  #reportOmitted(): void {
    const omitted = this.#lines - MAX_STDERR_LINES;
    this.#lines = 0;
    if (omitted > 0) this.#callbacks.onOmitted(omitted);
  }
}

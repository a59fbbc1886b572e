import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { Keyboard } from './keyboard.ts';
import { withoutControls } from './printer.ts';
import { wrap } from './wrap.ts';

const PROMPT = '› ';
const INDENT = '  ';

/** Asks the terminal to bracket what is pasted, or no longer. */
const BRACKET_PASTES = '\u001B[?2004h';
const STOP_BRACKETING = '\u001B[?2004l';

/** Lines of a paste that are shown. */
const SHOWN_LINES = 6;

/**
 * A terminal in which text is printed above the line that is being typed.
 *
 * The row that is being printed is part of readline's prompt, so that readline knows where everything stands.
 */
export class Terminal {
  /** Settles when whoever typed has left. */
  readonly closed: Promise<void>;
  readonly #screen: WriteStream;
  readonly #reader: Interface;
  /** What was printed since the last line end. */
  #printed = '';
  /** Whole lines that were pasted before the line that is being typed. */
  #pasted: string[] = [];
  #open = true;

  constructor(input: ReadStream, screen: WriteStream) {
    this.#screen = screen;
    const keyboard = new Keyboard(input, (text) => this.#paste(text));
    this.#reader = createInterface({ input: keyboard, output: screen, terminal: true });
    screen.write(BRACKET_PASTES);
    process.once('exit', () => screen.write(STOP_BRACKETING));
    this.closed = new Promise((resolve) => this.#reader.once('close', resolve)).then(() => {
      this.#open = false;
      screen.write('\n');
    });
  }

  get atLineStart(): boolean {
    return this.#printed === '';
  }

  /** Whether nothing has been typed. */
  get isBlank(): boolean {
    return this.#reader.line === '' && this.#pasted.length === 0;
  }

  /** Called with what was typed when it is sent; pasted lines are part of it. */
  onLine(listener: (text: string) => void): void {
    this.#reader.on('line', (line) => {
      const text = [...this.#pasted, line].join('\n');
      this.#pasted = [];
      this.#printed = '';
      this.#reader.setPrompt(this.#promptText());
      this.#reader.prompt();
      listener(text);
    });
  }

  /** Called at Ctrl-C. */
  onInterrupt(listener: () => void): void {
    this.#reader.on('SIGINT', listener);
  }

  print(text: string): void {
    const { rows, last } = wrap(this.#printed + text, this.#width);
    this.#printed = last;
    this.#redraw(rows);
  }

  /** Takes back what was typed. */
  clear(): void {
    this.#pasted = [];
    this.#clearLine();
    this.#redraw();
  }

  /** Takes nothing more, as if whoever typed had left. */
  close(): void {
    this.#reader.close();
  }

  #paste(text: string): void {
    const lines = withoutControls(text.replaceAll(/\r\n?/g, '\n')).split('\n');
    const last = lines.pop() ?? '';
    if (lines.length > 0) {
      this.#pasted = [...this.#pasted, this.#reader.line + lines[0], ...lines.slice(1)];
      this.#clearLine();
      this.#redraw();
    }
    this.#reader.write(last);
  }

  #clearLine(): void {
    this.#reader.write(null, { ctrl: true, name: 'e' });
    this.#reader.write(null, { ctrl: true, name: 'u' });
  }

  /** Puts rows where the prompt was, and the prompt with what is typed below them. */
  #redraw(rows = ''): void {
    if (!this.#open) return;
    const up = this.#reader.getCursorPos().rows;
    this.#screen.cork();
    moveCursor(this.#screen, 0, -up);
    cursorTo(this.#screen, 0);
    clearScreenDown(this.#screen);
    // Before readline draws, it goes up as far as it was down.
    this.#screen.write(`${rows}${'\n'.repeat(up)}`);
    this.#reader.setPrompt(this.#promptText());
    this.#reader.prompt(true);
    this.#screen.uncork();
  }

  /** A terminal may not know how wide it is. */
  get #width(): number {
    return this.#screen.columns || Infinity;
  }

  #promptText(): string {
    const hidden = this.#pasted.length - SHOWN_LINES;
    const shown = this.#pasted.slice(0, SHOWN_LINES).map((line) => line.slice(0, this.#width - INDENT.length));
    if (hidden > 0) shown.push(`… ${hidden} more lines`);
    const pasted = shown.map((line) => `${line}\n${INDENT}`).join('');
    return `${this.#printed}${this.atLineStart ? '' : '\n'}${PROMPT}${pasted}`;
  }
}

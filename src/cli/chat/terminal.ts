import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { terminalText } from '../../system/terminal-text.ts';
import { Keyboard } from './keyboard.ts';
import { firstCells, wrap } from './wrap.ts';

const PROMPT = '› ';
const INDENT = '  ';

const BRACKET_PASTES = '\u001B[?2004h';
const STOP_BRACKETING = '\u001B[?2004l';

const SHOWN_LINES = 6;

/** A terminal that prints above the line being typed; readline's prompt contains the row being printed. */
export class Terminal {
  /** Resolves when the input has ended. */
  readonly closed: Promise<void>;
  readonly #screen: WriteStream;
  readonly #reader: Interface;
  /** The text printed since the last line end. */
  #printed = '';
  /** Pasted lines above the line being typed. */
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

  get isBlank(): boolean {
    return this.#reader.line === '' && this.#pasted.length === 0;
  }

  /** Calls the listener with each entered text, including pasted lines. */
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

  /** Calls the listener on Ctrl-C. */
  onInterrupt(listener: () => void): void {
    this.#reader.on('SIGINT', listener);
  }

  print(text: string): void {
    const { rows, last } = wrap(this.#printed + text, this.width);
    this.#printed = last;
    this.#redraw(rows);
  }

  /** Clears the input. */
  clear(): void {
    this.#pasted = [];
    this.#clearLine();
    this.#redraw();
  }

  /** Ends the input. */
  close(): void {
    this.#reader.close();
  }

  #paste(text: string): void {
    const lines = terminalText(text.replaceAll(/\r\n?/g, '\n')).split('\n');
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

  /** Prints rows above the prompt and redraws it. */
  #redraw(rows = ''): void {
    if (!this.#open) return;
    const up = this.#reader.getCursorPos().rows;
    this.#screen.cork();
    moveCursor(this.#screen, 0, -up);
    cursorTo(this.#screen, 0);
    clearScreenDown(this.#screen);
    // readline first moves up as many rows as it was down.
    this.#screen.write(`${rows}${'\n'.repeat(up)}`);
    this.#reader.setPrompt(this.#promptText());
    this.#reader.prompt(true);
    this.#screen.uncork();
  }

  /** The cells of a row; some terminals report none. */
  get width(): number {
    return this.#screen.columns || Infinity;
  }

  #promptText(): string {
    const hidden = this.#pasted.length - SHOWN_LINES;
    const shown = this.#pasted.slice(0, SHOWN_LINES).map((line) => firstCells(line, this.width - INDENT.length));
    if (hidden > 0) shown.push(`… ${hidden} more lines`);
    const pasted = shown.map((line) => `${line}\n${INDENT}`).join('');
    return `${this.#printed}${this.atLineStart ? '' : '\n'}${PROMPT}${pasted}`;
  }
}

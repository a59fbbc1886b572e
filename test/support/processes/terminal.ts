import { type Home, TAU } from '../agent/test-agent.ts';
import { type RunningProgram, startProgram } from './program.ts';

// Runs a program in a new pseudo terminal and forwards its input and output.
const SPAWN_IN_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

// Sets the size of the terminal and replaces itself with the program.
const SET_SIZE_AND_EXEC = 'stty columns "$1" rows "$2"; shift 2; exec "$@"';

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';
export const ENTER = '\r';

/** The bytes that a terminal sends for a pasted text. */
export const paste = (text: string) => `\u001B[200~${text.replaceAll('\n', '\r')}\u001B[201~`;

/** A program in a pseudo terminal. */
export interface TerminalProgram extends Pick<RunningProgram, 'child' | 'stdout' | 'finished'> {
  readonly type: (keys: string) => void;
  /** The screen and its scrollback. */
  readonly screen: () => string;
  /** Settles when this text is on the screen. */
  readonly waitForScreen: (text: string) => Promise<void>;
}

export interface TerminalOptions {
  columns?: number;
  height?: number;
  env?: Record<string, string>;
}

/** Starts tau in a pseudo terminal. */
export const startTauInTerminal = (
  home: Home,
  args: readonly string[],
  options: TerminalOptions = {},
): TerminalProgram => startInTerminal(home, [process.execPath, TAU, ...args], options);

/** Starts a program in a pseudo terminal. */
export function startInTerminal(
  home: Home,
  args: readonly string[],
  { columns = 80, height = 24, env = {} }: TerminalOptions = {},
): TerminalProgram {
  const program = ['sh', '-c', SET_SIZE_AND_EXEC, 'sh', `${columns}`, `${height}`, ...args];
  const { child, stdout, stderr, finished, send } = startProgram(
    home,
    ['python3', '-c', SPAWN_IN_TERMINAL, ...program],
    {
      env: { TERM: 'xterm', NO_COLOR: '1', ...env },
    },
  );
  const screen = () => {
    const terminal = new Screen({ columns, height });
    terminal.write(stdout());
    return terminal.text;
  };
  const waitForScreen = async (text: string) => {
    const ended = finished.then(() => 'ended' as const);
    while (!screen().includes(text)) {
      const more = new Promise((resolve) => child.stdout?.once('data', resolve));
      if ((await Promise.race([more, ended])) === 'ended' && !screen().includes(text)) {
        throw new Error(`It ended before it showed ${JSON.stringify(text)}:\n${screen()}\n${stderr()}`);
      }
    }
  };
  return { child, stdout, finished, type: send, screen, waitForScreen };
}

const ESCAPE = '\u001B';
const CONTROL_OR_CHARACTER = new RegExp(`${ESCAPE}\\[(?<mode>\\??)(?<number>\\d*)(?<letter>[A-Za-z])|.`, 'gsu');
const TAB = 8;

const WIDE = /[\u3000-\u3096\u309B-\u30FF\uFF01-\uFF60\p{Script=Han}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

/** A terminal screen; it implements only the control sequences that tau may use. */
export class Screen {
  readonly #columns: number;
  readonly #height: number;
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor({ columns, height }: { columns: number; height: number }) {
    this.#columns = columns;
    this.#height = height;
  }

  /** The screen and its scrollback, without trailing blanks. */
  get text(): string {
    const rows = this.#rows.map((row) => Array.from(row, (cell) => cell ?? ' ').join(''));
    return rows.map((row) => row.trimEnd()).join('\n');
  }

  write(output: string): void {
    for (const { 0: piece, groups = {} } of output.matchAll(CONTROL_OR_CHARACTER)) {
      if (groups['letter']) this.#control(`${groups['mode']}${groups['letter']}`, Number(groups['number']));
      else this.#character(piece);
    }
  }

  #control(kind: string, number: number): void {
    const top = Math.max(0, this.#rows.length - this.#height);
    if (kind === 'A') this.#row = Math.max(top, this.#row - (number || 1));
    else if (kind === 'B') this.#row = Math.min(this.#rows.length - 1, this.#row + (number || 1));
    else if (kind === 'C') this.#column = Math.min(this.#columns - 1, this.#column + (number || 1));
    else if (kind === 'D') this.#column = Math.max(0, this.#column - (number || 1));
    else if (kind === 'G') this.#column = (number || 1) - 1;
    else if (kind === 'J' && number === 0) this.#clearDown();
    else if (kind === 'K' && number === 0) this.#rowAt(this.#row).length = this.#column;
    else if (kind !== 'm' && kind !== '?h' && kind !== '?l') throw new Error(`Unknown control ${number}${kind}`);
  }

  #character(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#down();
    else if (character === '\t') this.#column += TAB - (this.#column % TAB);
    else if (/\p{Cc}/u.test(character)) throw new Error(`Unknown character ${JSON.stringify(character)}`);
    else if (!/\p{Mn}/u.test(character)) this.#cells(character, WIDE.test(character) ? 2 : 1);
    else this.#rowAt(this.#row)[this.#column - 1] += character;
  }

  #cells(character: string, width: number): void {
    if (this.#column + width > this.#columns) {
      this.#down();
      this.#column = 0;
    }
    this.#rowAt(this.#row)[this.#column] = character;
    if (width === 2) this.#rowAt(this.#row)[this.#column + 1] = '';
    this.#column += width;
  }

  #clearDown(): void {
    this.#rowAt(this.#row).length = Math.min(this.#column, this.#rowAt(this.#row).length);
    for (const row of this.#rows.slice(this.#row + 1)) row.length = 0;
  }

  #down(): void {
    this.#row++;
    this.#rowAt(this.#row);
  }

  #rowAt(row: number): string[] {
    this.#rows[row] ??= [];
    return this.#rows[row];
  }
}

import { type RunningProgram, startProgram } from './command.ts';
import { type Home, TAU } from './open.ts';
import { Screen } from './screen.ts';

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
export const startTauInTerminal = (home: Home, args: readonly string[], options: TerminalOptions = {}): TerminalProgram =>
  startInTerminal(home, [process.execPath, TAU, ...args], options);

/** Starts a program in a pseudo terminal. */
export function startInTerminal(
  home: Home,
  args: readonly string[],
  { columns = 80, height = 24, env = {} }: TerminalOptions = {},
): TerminalProgram {
  const program = ['sh', '-c', SET_SIZE_AND_EXEC, 'sh', `${columns}`, `${height}`, ...args];
  const { child, stdout, stderr, finished, send } = startProgram(home, ['python3', '-c', SPAWN_IN_TERMINAL, ...program], {
    env: { TERM: 'xterm', NO_COLOR: '1', ...env },
  });
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

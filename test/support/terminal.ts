import { type Command, command } from './command.ts';
import { type Home, TAU } from './open.ts';
import { Screen } from './screen.ts';

/** Gives a program a terminal of its own, and passes on what is typed and shown. */
const TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

/** Sets the size of the terminal, then is the program. */
const SIZED = 'stty columns "$1" rows "$2"; shift 2; exec "$@"';

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';
export const ENTER = '\r';

/** What a terminal sends when a text is pasted. */
export const paste = (text: string) => `\u001B[200~${text.replaceAll('\n', '\r')}\u001B[201~`;

/** The program in a terminal. */
export interface InTerminal extends Pick<Command, 'child' | 'stdout' | 'finished'> {
  readonly type: (keys: string) => void;
  /** Everything that is and was on the screen. */
  readonly screen: () => string;
  /** Settles when this is on the screen. */
  readonly shows: (text: string) => Promise<void>;
}

export interface TerminalOptions {
  columns?: number;
  height?: number;
  env?: Record<string, string>;
}

/** Starts tau in a terminal of its own. */
export const inTerminal = (home: Home, args: readonly string[], options: TerminalOptions = {}): InTerminal =>
  programInTerminal(home, [process.execPath, TAU, ...args], options);

/** Starts any program in a terminal of its own. */
export function programInTerminal(
  home: Home,
  words: readonly string[],
  { columns = 80, height = 24, env = {} }: TerminalOptions = {},
): InTerminal {
  const program = ['sh', '-c', SIZED, 'sh', `${columns}`, `${height}`, ...words];
  const { child, stdout, stderr, finished, send } = command(home, ['python3', '-c', TERMINAL, ...program], {
    env: { TERM: 'xterm', NO_COLOR: '1', ...env },
  });
  const screen = () => {
    const drawn = new Screen({ columns, height });
    drawn.write(stdout());
    return drawn.text;
  };
  const shows = async (text: string) => {
    const ended = finished.then(() => 'ended' as const);
    while (!screen().includes(text)) {
      const more = new Promise((resolve) => child.stdout?.once('data', resolve));
      if ((await Promise.race([more, ended])) === 'ended' && !screen().includes(text)) {
        throw new Error(`It ended before it showed ${JSON.stringify(text)}:\n${screen()}\n${stderr()}`);
      }
    }
  };
  return { child, stdout, finished, type: send, screen, shows };
}

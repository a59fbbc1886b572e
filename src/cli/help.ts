import { version } from '../protocol/generated/version.ts';
import { wrap } from './chat/wrap.ts';
import { type Flag, flags } from './flags.ts';

const WIDTH = 80;

/** What `tau --help` says. */
export function help(): string {
  const all = Object.entries<Flag>(flags);
  const rows = all.filter(([, flag]) => !flag.ignored).map(([name, flag]) => row(name, flag));
  const ignored = all.filter(([, flag]) => flag.ignored).map(([name]) => `--${name}`);
  return `tau ${version}: a headless coding agent that other programs drive

Usage
  tau chat [options]        talk to the agent in this terminal; without one,
                            each line of stdin is a prompt
  tau --mode rpc [options]  speak JSON lines with a program
  tau doctor [--json]       look at everything that tau depends on here

Options
${rows.join('')}
Taken without effect, for scripts that were written for pi
${indented(ignored.join(' '))}

Exit codes
  0  all went well
  1  it could not be opened, a prompt of tau chat without a terminal failed, or
     tau doctor found an error
  2  wrong use of the command line
  129, 130, 143  ended by SIGHUP, SIGINT, SIGTERM

Try it
  printf '%s\\n' '{"id":"1","type":"prompt","message":"list the files"}' |
    tau --mode rpc --no-session
`;
}

function row(name: string, flag: Flag): string {
  const short = flag.short ? `-${flag.short}, ` : '';
  const value = flag.value ? ` <${flag.value}>` : '';
  return `  ${`${short}--${name}${value}`.padEnd(20)} ${flag.about}${choicesOf(flag)}\n`;
}

function choicesOf({ choices = [], default: standard }: Flag): string {
  if (choices.length < 2) return '';
  return `: ${choices.map((word) => (word === standard ? `${word} (default)` : word)).join(', ')}`;
}

function indented(text: string): string {
  const { rows, last } = wrap(text, WIDTH - 2);
  return `${rows}${last}`.replaceAll(/^/gm, '  ');
}

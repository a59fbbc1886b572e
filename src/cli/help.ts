import { version } from '../protocol/generated/version.ts';
import { type Flag, flags } from './flags.ts';

/** What `tau --help` says. */
export function help(): string {
  const rows = Object.entries<Flag>(flags)
    .filter(([, flag]) => !flag.ignored)
    .map(([name, flag]) => {
      const short = flag.short ? `-${flag.short}, ` : '';
      const choices = flag.choices && flag.choices.length > 1 ? ` (${flag.choices.join(', ')})` : '';
      return `  ${`${short}--${name}${flag.value ? ` <${flag.value}>` : ''}`.padEnd(28)}${flag.about}${choices}\n`;
    });
  return `tau ${version}: a headless coding agent that other programs drive

Usage
  tau chat [options]          talk to the agent in this terminal
  tau --mode rpc [options]    speak JSON lines with a program

Options
${rows.join('')}
Try it
  printf '%s\\n' '{"id":"1","type":"prompt","message":"list the files"}' | tau --mode rpc --no-session
`;
}

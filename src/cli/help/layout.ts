import { wrap } from '../chat/wrap.ts';
import type { Flag } from '../flags/flags.ts';

const WIDTH = 80;
const INDENT = '  ';

// The widest left column of a list; a longer name gets its own line.
const MAX_NAME_WIDTH = 30;

/** Joins the parts of a help page with blank lines. */
export const page = (...parts: readonly string[]) => parts.map((part) => `${part.trimEnd()}\n`).join('\n');

export const section = (title: string, body: string) => `${title}\n${body}`;

/** Wraps and indents text. */
export const paragraph = (text: string) =>
  `${lines(text, WIDTH - INDENT.length).join(`\n${INDENT}`)}\n`.replace(/^/, INDENT);

/** Formats names and descriptions in two columns. */
export function list(rows: readonly (readonly [name: string, about: string])[]): string {
  const column = Math.min(MAX_NAME_WIDTH, Math.max(...rows.map(([name]) => name.length))) + INDENT.length;
  return rows.map(([name, about]) => row(name, about, column)).join('');
}

function row(name: string, about: string, column: number): string {
  const margin = INDENT + ' '.repeat(column);
  const [first = '', ...others] = lines(about, WIDTH - margin.length);
  const head = `${INDENT}${name.padEnd(column)}`;
  const start = name.length + INDENT.length > column ? `${INDENT}${name}\n${margin}` : head;
  return `${`${start}${first}`.trimEnd()}\n${others.map((line) => `${margin}${line}\n`).join('')}`;
}

function lines(text: string, width: number): string[] {
  const { rows, last } = wrap(text, width);
  return `${rows}${last}`.split('\n');
}

export function flagRow(name: string, flag: Flag): readonly [string, string] {
  const short = flag.short ? `-${flag.short}, ` : '';
  const value = flag.value ? ` <${flag.value}>` : '';
  return [`${short}--${name}${value}`, `${flag.about}${choicesOf(flag)}`];
}

function choicesOf({ choices = [], default: standard }: Flag): string {
  if (choices.length === 0) return standard === undefined ? '' : ` (${standard} unless given)`;
  return `: ${choices.map((word) => (word === standard ? `${word} (default)` : word)).join(', ')}`;
}

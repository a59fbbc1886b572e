/** A command or file name that is being typed. */
export interface CompletionTarget {
  readonly kind: 'command' | 'file';
  /** The typed part of the name. */
  readonly query: string;
  /** The range in the text, with the `/` or `@`. */
  readonly from: number;
  readonly to: number;
}

const COMMAND = /^\/(\S*)$/;
const FILE = /(?:^|[\s(])(@(?:"([^"\n]*)|([^\s"]*)))$/g;
// Longer texts name no file.
const MAX_PATH = 4096;

/** Returns the name at the caret: a command at the start of a message, or a file after `@`. */
export function completionTargetAt(text: string, caret: number): CompletionTarget | undefined {
  const before = text.slice(0, caret);
  const isAtEnd = caret === text.length || /\s/.test(text.charAt(caret));
  if (!isAtEnd || text.startsWith('!')) return undefined;
  const [, command] = COMMAND.exec(before) ?? [];
  if (command !== undefined) return { kind: 'command', query: command, from: 0, to: caret };
  FILE.lastIndex = Math.max(0, caret - MAX_PATH);
  const [, typed, quoted, plain = quoted] = FILE.exec(before) ?? [];
  if (typed === undefined || plain === undefined) return undefined;
  return { kind: 'file', query: plain, from: caret - typed.length, to: caret };
}

/** Formats a path as a mention. A folder stays open for more of the path. */
export function mention(path: string): string {
  const isOpen = path.endsWith('/');
  if (!/\s/.test(path)) return isOpen ? `@${path}` : `@${path} `;
  return isOpen ? `@"${path}` : `@"${path}" `;
}

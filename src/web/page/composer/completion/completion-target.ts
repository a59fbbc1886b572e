/** What somebody is in the middle of naming. */
export interface CompletionTarget {
  readonly kind: 'command' | 'file';
  /** What was typed of the name. */
  readonly query: string;
  /** Where it begins and ends in the text, with its sign. */
  readonly from: number;
  readonly to: number;
}

const COMMAND = /^\/(\S*)$/;
const FILE = /(?:^|[\s(])(@(?:"([^"\n]*)|([^\s"]*)))$/g;
/** What is longer names no file. */
const MAX_PATH = 4096;

/** What is named where the caret is: a command at the beginning of a message, a file behind an `@`. */
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

/** A path as it is mentioned. One of a folder is open to go on with. */
export function mention(path: string): string {
  const isOpen = path.endsWith('/');
  if (!/\s/.test(path)) return isOpen ? `@${path}` : `@${path} `;
  return isOpen ? `@"${path}` : `@"${path}" `;
}

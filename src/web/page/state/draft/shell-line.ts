/** A line for the shell. */
export interface ShellLine {
  readonly command: string;
  /** What it prints is not told to the model. */
  readonly isPrivate: boolean;
}

/** `!command` is for the shell, `!!command` too and not for the model; undefined for everything else. */
export function parseShellLine(text: string): ShellLine | undefined {
  if (!text.startsWith('!')) return undefined;
  const isPrivate = text.startsWith('!!');
  return { command: text.slice(isPrivate ? 2 : 1).trim(), isPrivate };
}

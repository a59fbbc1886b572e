// A line for the shell.
export interface ShellLine {
  readonly command: string;
  // Whether the output is kept from the model.
  readonly isPrivate: boolean;
}

/** Parses `!command`, and `!!command` for output that is kept from the model; undefined for other text. */
export function parseShellLine(text: string): ShellLine | undefined {
  if (!text.startsWith('!')) return undefined;
  const isPrivate = text.startsWith('!!');
  return { command: text.slice(isPrivate ? 2 : 1).trim(), isPrivate };
}

/** The first line of a prompt, after the texts of attached files. Takes linear time. */
export const firstLine = (prompt: string): string =>
  /^(?:\s*<file name=[\s\S]*?<\/file>)*\s*(.*)/.exec(prompt)?.[1] ?? '';

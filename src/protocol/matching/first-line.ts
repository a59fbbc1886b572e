/** The first line of a prompt, after the texts of attached files. Takes linear time. */
export const firstLine = (prompt: string): string =>
  /^(?:\s*<file name=[\s\S]*?<\/file>)*\s*([^\n]*)/.exec(prompt)?.[1]?.trimEnd() ?? '';

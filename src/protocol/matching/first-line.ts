/** The first line of a prompt, after the texts of attached files and the names of attached images. Takes linear time. */
export const firstLine = (prompt: string): string =>
  /^(?:\s*(?:<file name=[\s\S]*?<\/file>|<image name="[^"\n]*"\/>))*\s*([^\n]*)/.exec(prompt)?.[1]?.trimEnd() ?? '';

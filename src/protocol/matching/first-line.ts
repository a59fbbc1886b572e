/** The first line of a prompt, after the texts of attached files and the names of attached images. Takes linear time. */
export const firstLine = (prompt: string): string =>
  /^(\s*<(file name=[\s\S]*?<\/file|image name=.*?\/)>)*\s*([^\n]*)/.exec(prompt)?.[3]?.trimEnd() ?? '';

/** The first line of a prompt, without the texts of attached files. */
export const firstLine = (prompt: string): string =>
  /\S.*/.exec(prompt.replace(/<file name=.*?<\/file>/gs, ''))?.[0] ?? '';

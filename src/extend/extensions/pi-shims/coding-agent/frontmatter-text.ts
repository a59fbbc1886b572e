const LINE_OF_DASHES = '\n---';

/** Splits off the front matter between two lines of dashes. */
export function splitFrontmatter(content: string): { head: string | undefined; body: string } {
  const text = content.replaceAll(/\r\n?/g, '\n');
  const end = text.startsWith('---') ? text.indexOf(LINE_OF_DASHES, 3) : -1;
  if (end === -1) return { head: undefined, body: text };
  return { head: text.slice(4, end), body: text.slice(end + LINE_OF_DASHES.length).trim() };
}

export const stripFrontmatter = (content: string): string => splitFrontmatter(content).body;

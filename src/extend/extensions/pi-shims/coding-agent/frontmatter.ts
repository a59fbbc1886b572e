import { parse } from 'yaml';
import { isObject, type JsonObject } from '../../../../protocol/json.ts';

const LINE_OF_DASHES = '\n---';

/** Parses the front matter of a text between two lines of dashes. Throws for malformed YAML. */
export function parseFrontmatter(content: string): { frontmatter: JsonObject; body: string } {
  const text = content.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const end = text.startsWith('---') ? text.indexOf(LINE_OF_DASHES, 3) : -1;
  if (end === -1) return { frontmatter: {}, body: text };
  const value: unknown = parse(text.slice(4, end), { logLevel: 'error' });
  return { frontmatter: isObject(value) ? value : {}, body: text.slice(end + LINE_OF_DASHES.length).trim() };
}

export const stripFrontmatter = (content: string): string => parseFrontmatter(content).body;

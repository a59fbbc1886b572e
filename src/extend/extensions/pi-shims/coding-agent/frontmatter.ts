import { parse } from 'yaml';
import { isObject, type JsonObject } from '../../../../protocol/json.ts';
import { splitFrontmatter } from './frontmatter-text.ts';

/** Parses the front matter of a text. Throws for malformed YAML. */
export function parseFrontmatter(content: string): { frontmatter: JsonObject; body: string } {
  const { head, body } = splitFrontmatter(content);
  const value: unknown = head === undefined ? undefined : parse(head, { logLevel: 'error' });
  return { frontmatter: isObject(value) ? value : {}, body };
}

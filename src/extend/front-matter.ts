import { parse } from 'yaml';
import { messageOf } from '../protocol/errors.ts';

/** Limit in characters: longer YAML may take long to parse. */
export const MAX_FRONT_MATTER = 16 * 1024;

export interface FrontMatter {
  readonly values: Record<string, unknown>;
  readonly body: string;
  /** Why the front matter of a file has no values. */
  readonly problem?: string;
}

/** Splits a Markdown file into its YAML front matter and its body. Never throws. */
export function frontMatter(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [, yaml, body] = /^---[ \t]*\n(|.*?\n)-{3,}(.*)$/s.exec(plain) ?? [];
  if (yaml === undefined || body === undefined) return { values: {}, body: plain.trim() };
  return { ...valuesOf(yaml), body: body.trim() };
}

function valuesOf(yaml: string): Omit<FrontMatter, 'body'> {
  if (yaml.length > MAX_FRONT_MATTER) return { values: {}, problem: 'its front matter is too long' };
  try {
    // The extra newline makes error positions match the file. Without `logLevel`, YAML warnings go to the console.
    const values: unknown = parse(`\n${yaml}`, { logLevel: 'error' }) ?? {};
    if (typeof values === 'object' && !Array.isArray(values)) return { values: values as Record<string, unknown> };
    return { values: {}, problem: 'its front matter is no list of names and values' };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    return { values: {}, problem: `its front matter is no YAML: ${reason.replace(/:$/, '')}` };
  }
}

import { parse } from 'yaml';
import { messageOf } from '../protocol/errors.ts';

/** A longer one was not written by hand, and may take long to read. */
export const MAX_FRONT_MATTER = 16 * 1024;

export interface FrontMatter {
  readonly values: Record<string, unknown>;
  readonly body: string;
  /** Why there are no values, though a file has front matter. */
  readonly problem?: string;
}

/** A Markdown file with the YAML that may stand before it, between two lines of `---`. Never throws. */
export function frontMatter(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const [, yaml, body] = /^---[ \t]*\n(|.*?\n)-{3,}(.*)$/s.exec(plain) ?? [];
  if (yaml === undefined || body === undefined) return { values: {}, body: plain.trim() };
  return { ...valuesOf(yaml), body: body.trim() };
}

function valuesOf(yaml: string): Omit<FrontMatter, 'body'> {
  if (yaml.length > MAX_FRONT_MATTER) return { values: {}, problem: 'its front matter is too long' };
  try {
    // With the line before it, so that lines are counted as in the file. Warnings would be printed wherever Node prints them.
    const values: unknown = parse(`\n${yaml}`, { logLevel: 'error' }) ?? {};
    if (typeof values === 'object' && !Array.isArray(values)) return { values: values as Record<string, unknown> };
    return { values: {}, problem: 'its front matter is no list of names and values' };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    return { values: {}, problem: `its front matter is no YAML: ${reason.replace(/:$/, '')}` };
  }
}

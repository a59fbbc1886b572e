import { parse } from 'yaml';

/** A text with what stands above it between two lines of `---`. */
export interface FrontMatter {
  readonly values: Record<string, unknown>;
  readonly body: string;
  /** What is wrong with the values; then there are none. */
  readonly problem?: string;
}

/** Reads a text whose head may hold YAML. Never throws. */
export function frontMatter(text: string): FrontMatter {
  const whole = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const end = whole.startsWith('---') ? whole.indexOf('\n---', 3) : -1;
  if (end === -1) return { values: {}, body: whole.trim() };
  const afterMark = whole.indexOf('\n', end + 1);
  const body = afterMark === -1 ? '' : whole.slice(afterMark + 1).trim();
  const start = whole.indexOf('\n');
  try {
    const values: unknown = start === end ? null : parse(whole.slice(start + 1, end), { logLevel: 'error' });
    if (values === null) return { values: {}, body };
    if (typeof values === 'object' && !Array.isArray(values)) return { values: { ...values }, body };
    return { values: {}, body, problem: 'the front matter must hold names and values' };
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    return { values: {}, body, problem: `the front matter is no YAML: ${reason.replace(/:$/, '')}` };
  }
}

import type { TouchedFiles } from './files.ts';

/** The parts of a summary as one text. */
export function summaryText(history: string | undefined, prefix: string | undefined, files: TouchedFiles): string {
  const turn = prefix === undefined ? [] : ['---', `**Turn Context (split turn):**\n\n${prefix}`];
  return [
    history ?? 'No prior history.',
    ...turn,
    ...listed('read-files', files.readFiles),
    ...listed('modified-files', files.modifiedFiles),
  ].join('\n\n');
}

const listed = (name: string, paths: readonly string[]): string[] =>
  paths.length === 0 ? [] : [`<${name}>\n${paths.join('\n')}\n</${name}>`];

/** A summary without its lists, which are made anew. */
export const withoutFiles = (summary: string): string =>
  summary.replaceAll(/\n*<(read|modified)-files>\n[\s\S]*?\n<\/\1-files>/g, '');

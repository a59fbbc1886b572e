import type { TouchedFiles } from './files.ts';

/** Joins the parts of a summary and its file lists into one text. */
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

/** Removes the file lists, which the next summary writes anew. */
export const withoutFiles = (summary: string): string =>
  summary.replaceAll(/\n*<(read|modified)-files>\n[\s\S]*?\n<\/\1-files>/g, '');

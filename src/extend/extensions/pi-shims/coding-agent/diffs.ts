import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { describeChange } from '../../../../agent/tools/edit/edit-diff.ts';

/** The change of a file as a unified patch. */
export function generateUnifiedPatch(
  ...[path, oldContent, newContent, context = 4]: [path: string, before: string, after: string, contextLines?: number]
): string {
  const patch = structuredPatch(path, path, oldContent, newContent, undefined, undefined, { context });
  return formatPatch(patch, FILE_HEADERS_ONLY);
}

/** The change of a text with line numbers, for people; `firstChangedLine` is undefined if nothing changed. */
export function generateDiffString(
  oldContent: string,
  newContent: string,
): { diff: string; firstChangedLine: number | undefined } {
  if (oldContent === newContent) return { diff: '', firstChangedLine: undefined };
  const { diff, firstChangedLine } = describeChange('', oldContent, newContent);
  return { diff, firstChangedLine };
}

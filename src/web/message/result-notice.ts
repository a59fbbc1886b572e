const NOTICE = /(?:^|\n\n)\[([^\n]{1,600})\]$/;

/** Splits the bracketed note about omitted output off a tool's output. */
export function splitNotice(output: string): { readonly text: string; readonly notice: string } {
  const found = NOTICE.exec(output.slice(-800));
  if (!found) return { text: output, notice: '' };
  return { text: output.slice(0, output.length - found[0].length), notice: found[1] ?? '' };
}

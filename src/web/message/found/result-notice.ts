const NOTICE = /(?:^|\n\n)\[([^\n]{1,600})\]$/;

/** What a tool found, apart from what it adds in brackets about what it left out. */
export function withNotice(output: string): { readonly text: string; readonly notice: string } {
  const found = NOTICE.exec(output.slice(-800));
  if (!found) return { text: output, notice: '' };
  return { text: output.slice(0, output.length - found[0].length), notice: found[1] ?? '' };
}

/** A parsed piece of inline markdown. HTML stays text. */
export type Inline =
  | { readonly type: 'text' | 'code' | 'comment'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  /** Never fetched: it is shown as a link. */
  | { readonly type: 'picture'; readonly href: string; readonly alt: string }
  | { readonly type: 'break' };

export const inlineText = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if ('text' in inline) return inline.text;
      if ('alt' in inline) return inline.alt;
      return 'children' in inline ? inlineText(inline.children) : ' ';
    })
    .join('');

/** Links cannot be nested. */
export const withoutLinks = (inlines: readonly Inline[]): readonly Inline[] =>
  inlines.flatMap((inline): readonly Inline[] => {
    if (inline.type === 'link') return inline.children;
    if (inline.type === 'picture') return [{ type: 'text', text: inline.alt || 'picture' }];
    return 'children' in inline ? [{ ...inline, children: withoutLinks(inline.children) }] : [inline];
  });

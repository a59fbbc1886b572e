/** What a line of markdown consists of. Markup of HTML is not part of it and stays text. */
export type Inline =
  | { readonly type: 'text' | 'code' | 'comment'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  /** It is never fetched: what stands for it is a link. */
  | { readonly type: 'picture'; readonly href: string; readonly alt: string }
  | { readonly type: 'break' };

/** The words of something, without what they are marked with. */
export const inlineWords = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if ('text' in inline) return inline.text;
      if ('alt' in inline) return inline.alt;
      return 'children' in inline ? inlineWords(inline.children) : ' ';
    })
    .join('');

/** Words for within a link, where there is no other one. */
export const withoutLinks = (inlines: readonly Inline[]): readonly Inline[] =>
  inlines.flatMap((inline): readonly Inline[] => {
    if (inline.type === 'link') return inline.children;
    if (inline.type === 'picture') return [{ type: 'text', text: inline.alt || 'picture' }];
    return 'children' in inline ? [{ ...inline, children: withoutLinks(inline.children) }] : [inline];
  });

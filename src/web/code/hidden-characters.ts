/** Characters that show nothing, or show what follows in another order than it is; not those that join letters. */
const HIDDEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** A part of a text: to be read as it is, or a hidden character by its number. */
export interface TextPart {
  readonly text: string;
  readonly isHidden: boolean;
}

/** A text as parts of which every character is to be seen. */
export function visibleParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > end) parts.push({ text: text.slice(end, index), isHidden: false });
    parts.push({ text: nameOf(character), isHidden: true });
    end = index + character.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isHidden: false });
  return parts;
}

/** A text of which every character is to be seen, where it can be nothing but text. */
export const visibleText = (text: string): string =>
  visibleParts(text)
    .map((part) => part.text)
    .join('');

const nameOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

import { element } from '../element.ts';

/** Characters that show nothing, or show what follows in another order than it is; not those that join letters. */
const HIDDEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** A text of which every character is to be seen: hidden ones by their number. */
export function plainText(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    parts.push(text.slice(end, index), element('span', { class: 'hidden-character' }, nameOf(character)));
    end = index + character.length;
  }
  parts.push(text.slice(end));
  return parts;
}

const nameOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

import { visibleParts } from '../code/hidden-characters.ts';
import { element } from '../element.ts';

/** A text of which every character is to be seen: hidden ones by their number. */
export const plainNodes = (text: string): (Node | string)[] =>
  visibleParts(text).map((part) =>
    part.isHidden ? element('span', { class: 'hidden-character' }, part.text) : part.text,
  );

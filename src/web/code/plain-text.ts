import { element } from '../element.ts';
import { partsOf } from './hidden-characters.ts';

/** A text of which every character is to be seen: hidden ones by their number. */
export const plainText = (text: string): (Node | string)[] =>
  partsOf(text).map((part) => (part.isHidden ? element('span', { class: 'hidden-character' }, part.text) : part.text));

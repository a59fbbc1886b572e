import { visibleParts } from '../code/hidden-characters.ts';
import { element } from './element.ts';

/** Text nodes with hidden characters shown as their code points. */
export const visibleTextNodes = (text: string): (Node | string)[] =>
  visibleParts(text).map((part) =>
    part.isHidden ? element('span', { class: 'hidden-character' }, part.text) : part.text,
  );

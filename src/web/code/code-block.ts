import { element } from '../element.ts';
import { copyButton } from './copy-button.ts';
import { highlight } from './highlight.ts';

/** A piece of code with its language and a button to copy it. */
export function codeBlock(code: string, label: string): HTMLElement {
  const language = label.split(/[\s,{]/, 1)[0]?.toLowerCase() ?? '';
  const head = element(
    'figcaption',
    {},
    element('span', {}, label.slice(0, 60)),
    copyButton(() => code),
  );
  const body = element('pre', { attributes: { tabindex: '0' } }, element('code', {}, ...highlight(code, language)));
  return element('figure', { class: 'code' }, head, body);
}

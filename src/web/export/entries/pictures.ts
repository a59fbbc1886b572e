import { button, element } from '../../element.ts';
import { blocksOf, type Fields, textOf } from '../../fields.ts';

/** Pictures that can hold nothing but a picture. */
const TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/avif']);
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

/** The pictures of a message, each to be enlarged. */
export const picturesOf = (content: unknown): HTMLElement[] =>
  blocksOf(content)
    .filter(({ type }) => type === 'image')
    .map(picture);

function picture(block: Fields): HTMLElement {
  const type = textOf(block['mimeType']).toLowerCase();
  const data = textOf(block['data']);
  if (!TYPES.has(type) || data === '' || !BASE64.test(data)) {
    return element('p', { class: 'note' }, `A picture that is not shown (${type.slice(0, 60) || 'of no type'})`);
  }
  const source = `data:${type};base64,${data}`;
  const image = element('img', { attributes: { src: source, alt: `Picture (${type})`, decoding: 'async' } });
  return button(image, { class: 'picture', name: 'Enlarge the picture', onClick: () => enlarge(source) });
}

function enlarge(source: string): void {
  const image = element('img', { attributes: { src: source, alt: 'The picture, enlarged' } });
  const dialog = element('dialog', { class: 'lightbox', onClick: () => dialog.close() }, image);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

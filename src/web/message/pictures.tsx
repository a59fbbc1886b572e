import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { blocksOf, type Fields, textOf } from '../fields.ts';

/** Pictures that can hold nothing but a picture. */
const TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/avif']);
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/;

/** The pictures of a message, each to be enlarged. */
export function Pictures({ content }: { readonly content: unknown }) {
  const blocks = picturesIn(content);
  if (blocks.length === 0) return null;
  return (
    <div class="pictures">
      {blocks.map((block) => (
        <Picture block={block} />
      ))}
    </div>
  );
}

/** The blocks of a message that claim to be pictures. */
export const picturesIn = (content: unknown): readonly Fields[] =>
  blocksOf(content).filter(({ type }) => type === 'image');

function Picture({ block }: { readonly block: Fields }) {
  const [isLarge, setLarge] = useState(false);
  const type = textOf(block['mimeType']).toLowerCase();
  const data = textOf(block['data']);
  if (!TYPES.has(type) || data === '' || !BASE64.test(data.trimEnd()))
    return (
      <p class="note">
        A picture that is not shown (<PlainText text={type.slice(0, 60) || 'of no type'} />)
      </p>
    );
  const source = `data:${type};base64,${data}`;
  return (
    <>
      <button type="button" class="picture" aria-label="Enlarge the picture" onClick={() => setLarge(true)}>
        <img src={source} alt={`Of type ${type}`} decoding="async" />
      </button>
      {isLarge && <Lightbox source={source} onClose={() => setLarge(false)} />}
    </>
  );
}

/** A picture over everything else, until a click or Escape. */
function Lightbox({ source, onClose }: { readonly source: string; readonly onClose: () => void }) {
  const place = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => place.current?.showModal(), []);
  return (
    <dialog ref={place} class="lightbox" aria-label="The picture, enlarged" onClose={onClose}>
      <button type="button" aria-label="Close the picture" onClick={() => place.current?.close()}>
        <img src={source} alt="" />
      </button>
    </dialog>
  );
}

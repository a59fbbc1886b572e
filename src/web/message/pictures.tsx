import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { asText, contentBlocks, type Untyped } from '../untyped.ts';

// Image types that cannot contain scripts.
const SAFE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/avif']);
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/;

/** The pictures of a message; a click enlarges one. */
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

export const picturesIn = (content: unknown): readonly Untyped[] =>
  contentBlocks(content).filter(({ type }) => type === 'image');

function Picture({ block }: { readonly block: Untyped }) {
  const [isLarge, setLarge] = useState(false);
  const type = asText(block['mimeType']).toLowerCase();
  const data = asText(block['data']);
  if (!SAFE_TYPES.has(type) || data === '' || !BASE64.test(data.trimEnd()))
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

/** An enlarged picture that covers the page until a click or Escape. */
function Lightbox({ source, onClose }: { readonly source: string; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="lightbox" aria-label="The picture, enlarged" onClose={onClose}>
      <button type="button" aria-label="Close the picture" onClick={() => dialog.current?.close()}>
        <img src={source} alt="" />
      </button>
    </dialog>
  );
}

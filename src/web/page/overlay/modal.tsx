import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { isBeside } from './is-beside.ts';

interface ModalProps {
  readonly title: string;
  /** More of its look, by a class. */
  readonly kind?: string | undefined;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Something that lies over the page until it is done with. Escape and a click beside it close it; focus returns to where it was. */
export function Modal({ title, kind = '', onClose, children }: ModalProps) {
  const place = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before the effects of what is in it, which may scroll.
  useLayoutEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={place}
      class={`modal ${kind}`}
      aria-labelledby={heading}
      // One that has made room for another is told of its end when it is gone.
      onClose={() => place.current && onClose()}
      onMouseDown={(event) => isBeside(place.current, event) && place.current?.close()}
    >
      <header class="modal-head">
        <h2 id={heading}>{title}</h2>
        <button type="button" class="quiet icon-only" aria-label="Close" onClick={() => place.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

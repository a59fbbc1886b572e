import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from '../icons.tsx';

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
  useEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={place}
      class={`modal ${kind}`}
      aria-labelledby={heading}
      onClose={onClose}
      onMouseDown={(event) => event.target === place.current && place.current?.close()}
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

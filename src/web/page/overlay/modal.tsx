import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { useModalDialog } from './use-modal-dialog.ts';

interface ModalProps {
  readonly title: string;
  // An additional class.
  readonly kind?: string | undefined;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog with a title and a close button. */
export function Modal({ title, kind = '', onClose, children }: ModalProps) {
  const heading = useId();
  const { dialog, close } = useModalDialog(onClose);
  return (
    <dialog {...dialog} class={`modal ${kind}`} aria-labelledby={heading}>
      <header class="modal-head">
        <h2 id={heading}>{title}</h2>
        <button type="button" class="quiet icon-only" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

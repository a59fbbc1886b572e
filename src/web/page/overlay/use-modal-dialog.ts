import { useLayoutEffect, useRef } from 'preact/hooks';

/** Opens a modal dialog while mounted. Escape and a click outside close it; the focus returns to where it was. */
export function useModalDialog(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null);
  // Runs before the effects of the content, which may scroll.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const close = () => ref.current?.close();
  return {
    close,
    dialog: {
      ref,
      // A dialog that was replaced gets its close event after it is unmounted.
      onClose: () => ref.current && onClose(),
      onMouseDown: (event: MouseEvent) => isOutside(ref.current, event) && close(),
    },
  };
}

/** Whether a click is outside of a dialog; its scroll bar is inside, although the target is the dialog itself. */
function isOutside(dialog: HTMLDialogElement | null, { target, clientX, clientY }: MouseEvent): boolean {
  if (!dialog || target !== dialog) return false;
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

import { useLayoutEffect, useRef } from 'preact/hooks';

/** Something that lies over the page while it is there. Escape and a click beside it close it; focus returns to where it was. */
export function useModalDialog(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the effects of what is in it, which may scroll.
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
      // One that has made room for another is told of its end when it is gone.
      onClose: () => ref.current && onClose(),
      onMouseDown: (event: MouseEvent) => isOutside(ref.current, event) && close(),
    },
  };
}

/** Whether something lies beside a dialog; what scrolls it is a part of it, though nothing in it is pointed at there. */
function isOutside(dialog: HTMLDialogElement | null, { target, clientX, clientY }: MouseEvent): boolean {
  if (!dialog || target !== dialog) return false;
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

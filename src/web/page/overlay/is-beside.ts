/** Whether something lies beside a dialog; what scrolls it is a part of it, though nothing in it is pointed at there. */
export function isBeside(dialog: HTMLDialogElement | null, { target, clientX, clientY }: MouseEvent): boolean {
  if (!dialog || target !== dialog) return false;
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

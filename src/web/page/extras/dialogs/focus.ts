/** Whether the focus can be taken without taking anything from somebody who writes, or is in something that lies over the page. */
export function isFocusFree(active: Element | null): boolean {
  if (active === null || active === document.body) return true;
  if (active.closest('dialog, .dialog')) return false;
  return (active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement) && active.value === '';
}

/** Gives the focus to the first thing that can be answered with. */
export function focusFirst(place: HTMLElement | null): void {
  const first = place?.querySelector<HTMLElement>('.choices button:enabled, input:enabled, textarea:enabled');
  first?.focus({ preventScroll: true });
}

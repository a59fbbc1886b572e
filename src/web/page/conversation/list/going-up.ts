const UP = new Set(['ArrowUp', 'PageUp', 'Home']);

/** Hears at once when a reader wants to go up, before anything has moved; the returned function stops that. */
export function onGoingUp(scroller: HTMLElement, listener: () => void): () => void {
  let finger: number | undefined;
  const tell = (target: EventTarget | null) => {
    if (scroller.scrollTop > 0 && !goesUpItself(target, scroller)) listener();
  };
  const wheel = ({ deltaY, target, ctrlKey }: WheelEvent) => deltaY < 0 && !ctrlKey && tell(target);
  const touchStart = ({ touches }: TouchEvent) => {
    finger = touches[0]?.clientY;
  };
  const touchMove = ({ touches, target }: TouchEvent) => {
    const now = touches[0]?.clientY;
    if (now !== undefined && finger !== undefined && now > finger) tell(target);
    finger = now;
  };
  const keyDown = ({ key, shiftKey, target, defaultPrevented }: KeyboardEvent) => {
    if (!defaultPrevented && !isWriting(target) && (UP.has(key) || (key === ' ' && shiftKey))) tell(target);
  };
  const controller = new AbortController();
  const options = { signal: controller.signal, passive: true };
  scroller.addEventListener('wheel', wheel, options);
  scroller.addEventListener('touchstart', touchStart, options);
  scroller.addEventListener('touchmove', touchMove, options);
  scroller.addEventListener('keydown', keyDown, options);
  return () => controller.abort();
}

/** Whether keys are for a field that somebody writes in. */
export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

/** Whether something within the list has its own way to go. */
function goesUpItself(target: EventTarget | null, scroller: HTMLElement): boolean {
  for (let part = target instanceof Element ? target : null; part && part !== scroller; part = part.parentElement) {
    if (part.scrollTop > 0 && part.scrollHeight > part.clientHeight) return true;
  }
  return false;
}

const UP_KEYS = new Set(['ArrowUp', 'PageUp', 'Home']);

/** Calls the listener when the user scrolls up, before anything has moved; returns a function that stops this. */
export function onScrollUpIntent(scroller: HTMLElement, listener: () => void): () => void {
  let lastTouchY: number | undefined;
  const report = (target: EventTarget | null) => {
    if (scroller.scrollTop > 0 && !scrollsItself(target, scroller)) listener();
  };
  const wheel = ({ deltaY, target, ctrlKey }: WheelEvent) => deltaY < 0 && !ctrlKey && report(target);
  const touchStart = ({ touches }: TouchEvent) => {
    lastTouchY = touches[0]?.clientY;
  };
  const touchMove = ({ touches, target }: TouchEvent) => {
    const now = touches[0]?.clientY;
    if (now !== undefined && lastTouchY !== undefined && now > lastTouchY) report(target);
    lastTouchY = now;
  };
  const keyDown = ({ key, shiftKey, target, defaultPrevented }: KeyboardEvent) => {
    if (!defaultPrevented && !isTextField(target) && (UP_KEYS.has(key) || (key === ' ' && shiftKey))) report(target);
  };
  const controller = new AbortController();
  const options = { signal: controller.signal, passive: true };
  scroller.addEventListener('wheel', wheel, options);
  scroller.addEventListener('touchstart', touchStart, options);
  scroller.addEventListener('touchmove', touchMove, options);
  scroller.addEventListener('keydown', keyDown, options);
  return () => controller.abort();
}

/** Whether keys go to a text field. */
export const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

/** Whether an element inside the list scrolls instead of the list. */
function scrollsItself(target: EventTarget | null, scroller: HTMLElement): boolean {
  for (let part = target instanceof Element ? target : null; part && part !== scroller; part = part.parentElement) {
    if (part.scrollTop > 0 && part.scrollHeight > part.clientHeight) return true;
  }
  return false;
}

import { type ReadonlySignal, signal } from '@preact/signals';

/** Whether this tab is visible, as a signal. */
export const isVisible: ReadonlySignal<boolean> = visibility();

function visibility(): ReadonlySignal<boolean> {
  const visible = signal(isTabVisible());
  document.addEventListener('visibilitychange', () => {
    visible.value = isTabVisible();
  });
  return visible;
}

function isTabVisible(): boolean {
  return document.visibilityState === 'visible';
}

/** Whether a media query matches, as a signal. */
export function matchesMedia(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener('change', () => {
    matches.value = media.matches;
  });
  return matches;
}

/** Whether the primary pointer is a finger: there may be no hardware keyboard. */
export const hasTouchInput = (): boolean => matchMedia('(pointer: coarse)').matches;

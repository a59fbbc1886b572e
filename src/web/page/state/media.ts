import { type ReadonlySignal, signal } from '@preact/signals';

/** Whether a media query matches, as a signal. */
export function matchesMedia(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener('change', () => {
    matches.value = media.matches;
  });
  return matches;
}

import { type ReadonlySignal, signal } from '@preact/signals';

/** Whether a media query holds, now and whenever that changes. */
export function holds(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const is = signal(media.matches);
  media.addEventListener('change', () => {
    is.value = media.matches;
  });
  return is;
}

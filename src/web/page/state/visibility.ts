import { type ReadonlySignal, signal } from '@preact/signals';

/** Whether this tab is looked at. */
export const isVisible: ReadonlySignal<boolean> = visibility();

function visibility(): ReadonlySignal<boolean> {
  const is = signal(look());
  document.addEventListener('visibilitychange', () => {
    is.value = look();
  });
  return is;
}

function look(): boolean {
  return document.visibilityState === 'visible';
}

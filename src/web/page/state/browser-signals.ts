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

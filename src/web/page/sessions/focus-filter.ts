import type { App } from '../state/app.ts';

/** The id of the filter field. */
export const FILTER_ID = 'session-filter';

/** Focuses the filter of the session list. */
export function focusFilter({ isNarrow, isListOpen }: App): void {
  if (isNarrow.value) isListOpen.value = true;
  requestAnimationFrame(() => document.getElementById(FILTER_ID)?.focus());
}

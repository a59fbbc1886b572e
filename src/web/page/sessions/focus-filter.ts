import type { App } from '../state/app.ts';

/** The id of the field that sessions are found with. */
export const FILTER_ID = 'session-filter';

/** Lets somebody type which session they look for. */
export function focusFilter({ isNarrow, isListOpen }: App): void {
  if (isNarrow.value) isListOpen.value = true;
  requestAnimationFrame(() => document.getElementById(FILTER_ID)?.focus());
}

import { useApp } from '../state/app.ts';

/** What lies over the page, if anything. */
export function Sheets() {
  const { sheet } = useApp();
  return sheet.value === undefined ? null : null;
}

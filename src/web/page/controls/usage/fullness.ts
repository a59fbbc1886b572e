// Percentages from which the context counts as nearly full and full.
const NEARLY_FULL = 70;
const FULL = 90;

/** Returns the CSS class for a context usage in percent. */
export const fullness = (percent: number): 'full' | 'nearly-full' | 'roomy' =>
  percent >= FULL ? 'full' : percent >= NEARLY_FULL ? 'nearly-full' : 'roomy';

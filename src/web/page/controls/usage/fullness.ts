/** From here on it is said in colour that little is left. */
const NEARLY_FULL = 70;
const FULL = 90;

/** A word for how little is left. */
export const fullness = (percent: number): 'full' | 'nearly-full' | 'roomy' =>
  percent >= FULL ? 'full' : percent >= NEARLY_FULL ? 'nearly-full' : 'roomy';

// A first letter of Hebrew, Arabic or another right-to-left script, after tags and other characters.
const STARTS_RIGHT_TO_LEFT =
  /^(?:<[^<>]*>|[^<\p{L}])*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The writing direction of a text by its beginning. `dir="auto"` would be recomputed for every streamed block. */
export const textDirection = (text: string): 'rtl' | undefined =>
  STARTS_RIGHT_TO_LEFT.test(text.slice(0, 2000)) ? 'rtl' : undefined;

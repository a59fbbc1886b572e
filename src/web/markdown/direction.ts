/** Behind tags and whatever else is no letter, one of Hebrew, Arabic and others that are written from right to left. */
const FROM_RIGHT =
  /^(?:<[^<>]*>|[^<\p{L}])*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Which way a text is written, by its beginning. Browsers that have to find out do so anew for every block that comes. */
export const directionOf = (text: string): 'rtl' | undefined =>
  FROM_RIGHT.test(text.slice(0, 2000)) ? 'rtl' : undefined;

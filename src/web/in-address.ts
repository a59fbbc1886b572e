/** A text as a part of an address. Half a character has none. */
export const inAddress = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));

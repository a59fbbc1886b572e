/** Encodes a text for a URL; lone surrogates are replaced. */
export const encodeUrlPart = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));

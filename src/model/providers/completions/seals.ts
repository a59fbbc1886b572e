/** A seal is what a server wants back word for word, kept as JSON. Undefined for one of another form. */
export function parsedSeal(seal: string | undefined): object | undefined {
  if (seal === undefined || !/^[[{]/.test(seal)) return undefined;
  try {
    return JSON.parse(seal);
  } catch {
    return undefined;
  }
}

/** A seal is what a server wants back word for word, kept as JSON. Undefined for one of another form. */
export function parsedSignature(signature: string | undefined): object | undefined {
  if (signature === undefined || !/^[[{]/.test(signature)) return undefined;
  try {
    return JSON.parse(signature);
  } catch {
    return undefined;
  }
}

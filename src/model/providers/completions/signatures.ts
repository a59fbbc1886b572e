// A signature is JSON that the server needs back unchanged; undefined if it has another form.
export function parsedSignature(signature: string | undefined): object | undefined {
  if (signature === undefined || !/^[[{]/.test(signature)) return undefined;
  try {
    return JSON.parse(signature);
  } catch {
    return undefined;
  }
}

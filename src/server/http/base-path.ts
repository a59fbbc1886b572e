/** A base path in the form that is used inside: empty, or with a slash before it and none after it. Throws a sentence. */
export function basePathFrom(text: string): string {
  const parts = text.split('/').filter((part) => part !== '');
  if (parts.every((part) => /^[\w.~-]+$/.test(part) && !/^\.+$/.test(part)))
    return parts.map((part) => `/${part}`).join('');
  throw new Error(`--base-path takes a path like /tau, not ${JSON.stringify(text)}`);
}

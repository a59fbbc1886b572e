/**
 * Normalises a base path: empty, or with a leading and without a trailing slash. Throws a sentence if it is invalid.
 */
export function basePathFrom(text: string): string {
  const parts = text.split('/').filter((part) => part !== '');
  if (parts.every((part) => /^[\w.~-]+$/.test(part) && !/^\.+$/.test(part)))
    return parts.map((part) => `/${part}`).join('');
  throw new Error(`--base-path takes a path like /tau, not ${JSON.stringify(text)}`);
}

/** Whether requests may be sent there; a password in an address would be told wherever the address is. */
export function isHttpUrl(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
  } catch {
    return false;
  }
}

/** Whether HTTP allows a header of this name. */
export const isHeaderName = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(name);

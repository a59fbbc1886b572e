/** Whether this is an http or https URL without a password, which would leak wherever the URL is shown. */
export function isHttpUrl(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
  } catch {
    return false;
  }
}

/** Whether tokens may be sent to this address: they cross no network without TLS. */
export const isIssuerUrl = (text: string): boolean =>
  isHttpUrl(text) && (/^https:/i.test(text) || /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(new URL(text).hostname));

/** Whether HTTP allows a header of this name. */
export const isHeaderName = (name: string): boolean => /^[\w!#$%&'*+.^`|~-]+$/.test(name);

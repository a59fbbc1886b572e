/** Returns the URL of a link; undefined for other schemes than http, https and mailto. */
export function safeLink(address: string): string | undefined {
  const plain = address.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(plain)) return undefined;
  try {
    const { href, protocol } = new URL(plain);
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

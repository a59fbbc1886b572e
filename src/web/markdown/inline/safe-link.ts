/** The address that a link may lead to; undefined when it could do anything but open a page or a letter. */
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

/** The host of a Host header: lower case, IPv6 in brackets. */
export interface HostName {
  readonly name: string;
  readonly port: number | undefined;
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?$/;
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/[^/?#@\s]+$/;

/** Parses a Host header; undefined if it is malformed. */
export function parseHost(text: string): HostName | undefined {
  const [, name, port] = HOST.exec(text.toLowerCase()) ?? [];
  if (name === undefined) return undefined;
  return { name, port: port === undefined ? undefined : Number(port) };
}

/** Normalises an origin without its default port; undefined for anything else, such as `null`. */
export function parseOrigin(text: string): string | undefined {
  const plain = text.toLowerCase();
  const [, scheme] = ORIGIN.exec(plain) ?? [];
  if (scheme !== 'http' && scheme !== 'https') return scheme && plain;
  return URL.canParse(plain) ? new URL(plain).origin : undefined;
}

export const defaultPort = (isEncrypted: boolean): number => (isEncrypted ? 443 : 80);

/** An IPv6 address as URLs write it. */
export const inBrackets = (address: string): string => (address.includes(':') ? `[${address}]` : address);

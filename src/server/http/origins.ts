/** A host as a request names it: lower case, IPv6 in brackets. */
export interface HostName {
  readonly name: string;
  readonly port: number | undefined;
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?$/;
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/[^/?#@\s]+$/;

/** What a Host header names; undefined when that makes no sense. */
export function parseHost(text: string): HostName | undefined {
  const [, name, port] = HOST.exec(text.toLowerCase()) ?? [];
  if (name === undefined) return undefined;
  return { name, port: port === undefined ? undefined : Number(port) };
}

/** Scheme, host and port in one form, without a port that goes without saying; undefined for what is no origin, as `null`. */
export function parseOrigin(text: string): string | undefined {
  const plain = text.toLowerCase();
  const [, scheme] = ORIGIN.exec(plain) ?? [];
  if (scheme !== 'http' && scheme !== 'https') return scheme && plain;
  return URL.canParse(plain) ? new URL(plain).origin : undefined;
}

/** The port that goes without saying. */
export const defaultPort = (isEncrypted: boolean): number => (isEncrypted ? 443 : 80);

/** An IPv6 address as hosts are written. */
export const inBrackets = (address: string): string => (address.includes(':') ? `[${address}]` : address);

import { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';

/** A request that came over the socket file: only its owner can make one. */
export class OwnerRequest extends IncomingMessage {}

/** An address as people write it: IPv4 in IPv6 is IPv4. */
export function plainAddress(address: string): string {
  const inner = address.replace(/^::ffff:/i, '');
  return isIPv4(inner) ? inner : address;
}

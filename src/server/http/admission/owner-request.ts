import { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';

/** A request over the socket file, which only the owner can send. */
export class OwnerRequest extends IncomingMessage {}

/** The usual form of an address: IPv4 mapped into IPv6 becomes IPv4. */
export function plainAddress(address: string): string {
  const inner = address.replace(/^::ffff:/i, '');
  return isIPv4(inner) ? inner : address;
}

import { BlockList, isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

// Addresses that do not belong to the public internet (RFC 6890 and its successors).
const REFUSED_NETWORKS: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // Everything outside the global unicast range, with the networks of translated and mapped IPv4 addresses.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * Whether an address leads to this machine or a private network.
 *
 * A machine's own public address reaches services that a firewall keeps from others.
 */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) === 0) return true;
  const family = familyOf(plain);
  const refused = new BlockList();
  // Of one family only: a list compares an IPv4 address with IPv6 networks as a mapped one.
  for (const [network, prefix] of REFUSED_NETWORKS) {
    if (familyOf(network) === family) refused.addSubnet(network, prefix, family);
  }
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return refused.check(plain, family) || own.some(({ address }) => address.replace(/%.*$/, '') === plain);
}

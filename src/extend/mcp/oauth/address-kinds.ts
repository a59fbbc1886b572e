import { BlockList, isIP } from 'node:net';

export type AddressKind = 'public' | 'private' | 'loopback' | 'link-local' | 'reserved';

const kinds: Readonly<Record<Exclude<AddressKind, 'public'>, BlockList>> = {
  loopback: blockList([['127.0.0.0', 8]], [['::1', 128]]),
  'link-local': blockList(
    [
      ['169.254.0.0', 16],
      ['0.0.0.0', 8],
    ],
    [
      ['fe80::', 10],
      ['::', 128],
    ],
  ),
  private: blockList(
    [
      ['10.0.0.0', 8],
      ['172.16.0.0', 12],
      ['192.168.0.0', 16],
      ['100.64.0.0', 10],
    ],
    [
      ['fc00::', 7],
      ['fec0::', 10],
    ],
  ),
  // Includes local NAT64 and Teredo, whose embedded IPv4 addresses cannot be determined.
  reserved: blockList(
    [
      ['192.0.0.0', 24],
      ['192.0.2.0', 24],
      ['198.18.0.0', 15],
      ['198.51.100.0', 24],
      ['203.0.113.0', 24],
      ['224.0.0.0', 3],
    ],
    [
      ['64:ff9b:1::', 48],
      ['100::', 64],
      ['2001::', 32],
      ['2001:db8::', 32],
      ['ff00::', 8],
    ],
  ),
};

// Networks whose addresses contain an IPv4 address, from this 16-bit group on: compatible, mapped, translated, NAT64, 6to4.
const embeddings: readonly (readonly [BlockList, number])[] = [
  [blockList([], [['::', 96]]), 6],
  [blockList([], [['::ffff:0:0', 96]]), 6],
  [blockList([], [['::ffff:0:0:0', 96]]), 6],
  [blockList([], [['64:ff9b::', 96]]), 6],
  [blockList([], [['2002::', 16]]), 1],
];

/** The network of an IP address. An IPv6 address that contains an IPv4 address has the kind of that one. */
export function kindOf(address: string): AddressKind {
  const plain = address.replace(/%.*$/, '');
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  const found = Object.entries(kinds).find(([, list]) => list.check(plain, family));
  if (found) return found[0] as AddressKind;
  const embedded = family === 'ipv6' ? embeddedIn(plain) : undefined;
  return embedded === undefined ? 'public' : kindOf(embedded);
}

function embeddedIn(address: string): string | undefined {
  const [, position] = embeddings.find(([list]) => list.check(address, 'ipv6')) ?? [];
  if (position === undefined) return undefined;
  const groups = groupsOf(address).slice(position, position + 2);
  return groups.flatMap((group) => [group >> 8, group & 255]).join('.');
}

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // A URL writes a dotted end as groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const parse = (part = '') => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [parse(head), parse(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function blockList(v4: readonly [string, number][], v6: readonly [string, number][]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of v4) list.addSubnet(net, prefix, 'ipv4');
  for (const [net, prefix] of v6) list.addSubnet(net, prefix, 'ipv6');
  return list;
}

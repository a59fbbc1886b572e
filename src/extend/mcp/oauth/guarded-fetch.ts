import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { causeOf } from '../transport/bounded-response.ts';

// Limits of a document of an authorization server.
const MAX_OAUTH_BYTES = 1024 * 1024;
const OAUTH_REQUEST_MS = 15_000;
const MAX_OAUTH_REDIRECTS = 3;

type AddressKind = 'public' | 'private' | 'loopback' | 'link-local';

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
    [['fc00::', 7]],
  ),
};

/**
 * A `fetch` for the addresses that a server names for its sign-in. They must be public or of the same kind as the
 * server's own address, and encrypted outside this machine, so that no server reaches into a network by them.
 */
export function guardedFetch(serverUrl: string): (address: string | URL, init?: RequestInit) => Promise<Response> {
  const { hostname } = new URL(serverUrl);
  // Kept once it is known; a lookup that failed is repeated.
  let ownKinds: AddressKind[] | undefined;
  const check = async (address: URL) => {
    const [found, own] = await Promise.all([kindsOf(address.hostname), ownKinds ?? kindsOf(hostname)]);
    ownKinds = own;
    const foreign = found.find((kind) => kind !== 'public' && !own.includes(kind));
    if (foreign) throw new Error(`refused: the sign-in leads to a ${foreign} address, ${address.host}`);
    if (address.protocol !== 'https:' && !(address.protocol === 'http:' && found.every((kind) => kind === 'loopback')))
      throw new Error(`refused: the sign-in leads to an address that is not encrypted, ${address.host}`);
  };
  return async (address, init = {}) => {
    let url = new URL(address);
    for (let hops = 0; hops <= MAX_OAUTH_REDIRECTS; hops++) {
      await check(url);
      const response = await request(url, init);
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return bounded(response);
      await response.body?.cancel();
      // A redirected POST would carry a code or a token along.
      if (init.method !== undefined && init.method !== 'GET') throw new Error('refused: the sign-in is redirected');
      url = new URL(location, url);
    }
    throw new Error('refused: the sign-in is redirected too often');
  };
}

async function request(url: URL, init: RequestInit): Promise<Response> {
  const limit = AbortSignal.timeout(OAUTH_REQUEST_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  try {
    return await fetch(url, { ...init, signal, redirect: 'manual' });
  } catch (error) {
    throw new Error(`${url.host} cannot be reached: ${causeOf(error)}`);
  }
}

async function bounded(response: Response): Promise<Response> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_OAUTH_BYTES) throw new Error(`the sign-in got a document of more than ${MAX_OAUTH_BYTES} bytes`);
    pieces.push(piece);
  }
  const { status, statusText, headers } = response;
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : Buffer.concat(pieces), { status, statusText, headers });
}

async function kindsOf(hostname: string): Promise<AddressKind[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) ? [host] : await resolve(host);
  return addresses.map(kindOf);
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    throw new Error(`there is no host ${host}`);
  }
}

function kindOf(address: string): AddressKind {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  const family = isIP(mapped) === 6 ? 'ipv6' : 'ipv4';
  const found = Object.entries(kinds).find(([, list]) => list.check(mapped, family));
  return (found?.[0] as AddressKind | undefined) ?? 'public';
}

function blockList(v4: readonly [string, number][], v6: readonly [string, number][]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of v4) list.addSubnet(net, prefix, 'ipv4');
  for (const [net, prefix] of v6) list.addSubnet(net, prefix, 'ipv6');
  return list;
}

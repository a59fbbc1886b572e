import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { decodedBody } from '../../../model/http/response.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { type AddressKind, kindOf } from './address-kinds.ts';
import { requestPinned } from './pinned-request.ts';

// Limits of a document of an authorization server.
const MAX_OAUTH_BYTES = 1024 * 1024;
const OAUTH_REQUEST_MS = 15_000;
const MAX_OAUTH_REDIRECTS = 3;

/**
 * A `fetch` for the addresses that a server names for its sign-in. They must be public or of the same kind as the
 * server's own address, and encrypted outside this machine, so that no server reaches into a network by them.
 */
export function guardedFetch(serverUrl: string): (address: string | URL, init?: RequestInit) => Promise<Response> {
  const { hostname } = new URL(serverUrl);
  // Kept once it is known; a lookup that failed is repeated.
  let ownKinds: AddressKind[] | undefined;
  const checkedAddresses = async (address: URL) => {
    const [addresses, own] = await Promise.all([resolve(address.hostname), ownKinds ?? kindsOf(hostname)]);
    ownKinds = own;
    const found = addresses.map((each) => kindOf(each.address));
    const foreign = found.find((kind) => kind !== 'public' && !own.includes(kind));
    if (foreign) throw new Error(`refused: the sign-in leads to a ${foreign} address, ${address.host}`);
    if (address.protocol !== 'https:' && !(address.protocol === 'http:' && found.every((kind) => kind === 'loopback')))
      throw new Error(`refused: the sign-in leads to an address that is not encrypted, ${address.host}`);
    return addresses;
  };
  return async (address, init = {}) => {
    let url = new URL(address);
    for (let hops = 0; hops <= MAX_OAUTH_REDIRECTS; hops++) {
      const response = await request(url, init, await checkedAddresses(url));
      const { statusCode: status = 0, headers } = response;
      if (status < 300 || status > 399 || headers.location === undefined) return bounded(response);
      response.destroy();
      // A redirected POST would carry a code or a token along.
      if (init.method !== undefined && init.method !== 'GET') throw new Error('refused: the sign-in is redirected');
      url = new URL(headers.location, url);
    }
    throw new Error('refused: the sign-in is redirected too often');
  };
}

async function request(url: URL, init: RequestInit, addresses: readonly LookupAddress[]): Promise<IncomingMessage> {
  const limit = AbortSignal.timeout(OAUTH_REQUEST_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  try {
    return await requestPinned(new Request(url, { ...init, signal }), addresses);
  } catch (error) {
    throw new Error(`${url.host} cannot be reached: ${messageOf(error)}`);
  }
}

async function bounded(response: IncomingMessage): Promise<Response> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of await decodedBody(response)) {
      size += piece.length;
      if (size > MAX_OAUTH_BYTES) throw new Error(`the sign-in got a document of more than ${MAX_OAUTH_BYTES} bytes`);
      pieces.push(piece);
    }
  } finally {
    response.destroy();
  }
  const { statusCode: status = 0, statusMessage: statusText = '' } = response;
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : Buffer.concat(pieces), { status, statusText, headers: headersOf(response) });
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value);
  return headers;
}

async function kindsOf(hostname: string): Promise<AddressKind[]> {
  return (await resolve(hostname)).map(({ address }) => kindOf(address));
}

async function resolve(hostname: string): Promise<LookupAddress[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return [{ address: host, family: isIP(host) }];
  try {
    return await lookup(host, { all: true });
  } catch {
    throw new Error(`there is no host ${host}`);
  }
}

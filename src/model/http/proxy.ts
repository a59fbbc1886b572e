import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { ModelFailure } from '../request.ts';

/** A way through somebody who passes requests on. */
export interface WayThrough {
  /** Without the name and the password that its address may hold. */
  readonly host: string;
  /** Keeps its connections. */
  readonly agent: HttpsProxyAgent<string>;
  /** Makes a connection of its own. */
  readonly another: () => HttpsProxyAgent<string>;
}

const known = new Map<string, WayThrough>();

/** The way through the proxy that is set for this address; undefined where none is. */
export function proxyFor(url: string): WayThrough | undefined {
  const address = getProxyForUrl(url);
  if (address === '') return undefined;
  const proxy = known.get(address) ?? wayThrough(address);
  known.set(address, proxy);
  return proxy;
}

function wayThrough(address: string): WayThrough {
  // The address itself is not told: it may hold a password.
  if (!URL.canParse(address))
    throw new ModelFailure('connection_lost', 'Connection error: the proxy in the environment is no URL');
  return {
    host: new URL(address).host,
    agent: new HttpsProxyAgent(address, { keepAlive: true }),
    another: () => new HttpsProxyAgent(address),
  };
}

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
  const address = isLoopback(new URL(url).hostname) ? '' : getProxyForUrl(url);
  if (address === '') return undefined;
  const proxy = known.get(address) ?? wayThrough(address);
  known.set(address, proxy);
  return proxy;
}

/** What runs on this machine is nobody's to pass on. */
const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

function wayThrough(address: string): WayThrough {
  // The address itself is not told: it may hold a password.
  if (!URL.canParse(address)) throw new ModelFailure('model_error', 'The proxy in the environment is no URL');
  const { protocol } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new ModelFailure('model_error', `The proxy in the environment speaks ${protocol.slice(0, -1)}, not http`);
  return {
    host: new URL(address).host,
    agent: new HttpsProxyAgent(address, { keepAlive: true }),
    another: () => new HttpsProxyAgent(address),
  };
}

import type { Agent } from 'node:http';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { ModelFailure } from '../request.ts';

/** How requests pass through one proxy. */
export interface ProxyRoute {
  /** Omits the user name and password of the proxy address. */
  readonly host: string;
  /** Keeps its connections. */
  readonly agent: Agent;
  /** Makes an agent that opens a new connection. */
  readonly freshAgent: () => Agent;
}

const routes = new Map<string, ProxyRoute>();

/** The route through the proxy that is set for this address; undefined without a proxy. */
export function proxyFor(url: string): ProxyRoute | undefined {
  const { hostname, protocol } = new URL(url);
  const address = isLocal(hostname) ? '' : getProxyForUrl(url);
  if (address === '') return undefined;
  const key = `${protocol} ${address}`;
  const proxy = routes.get(key) ?? createRoute(address, protocol);
  routes.set(key, proxy);
  return proxy;
}

// Requests to this machine, and to the servers of its cloud that give its credentials, bypass every proxy.
const isLocal = (host: string) =>
  ['localhost', '[::1]', 'metadata.google.internal'].includes(host) || /^(?:127|169\.254)\./.test(host);

// A proxy forwards plain HTTP and tunnels HTTPS.
function createRoute(address: string, target: string): ProxyRoute {
  // The message omits the address: it may contain a password.
  if (!URL.canParse(address)) throw new ModelFailure('model_error', 'The proxy in the environment is no URL');
  const { protocol } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new ModelFailure('model_error', `The proxy in the environment speaks ${protocol.slice(0, -1)}, not http`);
  const ProxyAgent = target === 'http:' ? HttpProxyAgent : HttpsProxyAgent;
  return {
    host: new URL(address).host,
    agent: new ProxyAgent(address, { keepAlive: true }),
    freshAgent: () => new ProxyAgent(address),
  };
}

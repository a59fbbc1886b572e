import type { Agent } from 'node:http';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { ModelFailure } from '../request.ts';

/** A way through somebody who passes requests on. */
export interface ProxyRoute {
  /** Without the name and the password that its address may hold. */
  readonly host: string;
  /** Keeps its connections. */
  readonly agent: Agent;
  /** Makes a connection of its own. */
  readonly freshAgent: () => Agent;
}

const routes = new Map<string, ProxyRoute>();

/** The way through the proxy that is set for this address; undefined where none is. */
export function proxyFor(url: string): ProxyRoute | undefined {
  const { hostname, protocol } = new URL(url);
  const address = isLoopback(hostname) ? '' : getProxyForUrl(url);
  if (address === '') return undefined;
  const key = `${protocol} ${address}`;
  const proxy = routes.get(key) ?? createRoute(address, protocol);
  routes.set(key, proxy);
  return proxy;
}

/** What runs on this machine is nobody's to pass on. */
const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

/** What is sent in the open is passed on by a proxy; what is not, goes through a tunnel that it digs. */
function createRoute(address: string, target: string): ProxyRoute {
  // The address itself is not told: it may hold a password.
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

import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';

const agents = new Map<string, HttpsProxyAgent<string>>();

/** A way through the proxy that is set for this address; undefined where none is. */
export function proxyAgentFor(url: string): HttpsProxyAgent<string> | undefined {
  const proxy = getProxyForUrl(url);
  if (proxy === '') return undefined;
  let agent = agents.get(proxy);
  if (!agent) {
    agent = new HttpsProxyAgent(proxy, { keepAlive: true });
    agents.set(proxy, agent);
  }
  return agent;
}

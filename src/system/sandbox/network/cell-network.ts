import type { Cell } from '../cell.ts';
import { withoutProxies } from '../environment.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { listenInCell } from './handover.ts';
import { type CellProxy, serveProxy } from './proxy.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PROXY_PORT = 3128;

// `localhost` inside is the sandbox's own: servers that commands start.
const DIRECT = 'localhost,127.0.0.1,::1';

/** Serves the proxy of a cell where the user decides about each host; undefined where there is nothing to decide. */
export async function startProxy({ enterNetwork }: Cell, { network, mayConnect }: SandboxOptions) {
  if (network !== 'ask') return undefined;
  return serveProxy(await listenInCell(enterNetwork, PROXY_PORT), { mayConnect });
}

/** The environment of a command with the proxy that it has to use. */
export function networkEnvironment(
  env: Environment,
  network: SandboxOptions['network'],
  proxy?: CellProxy,
): Environment {
  if (network === 'open') return env;
  return proxy ? { ...withoutProxies(env), ...proxyVariables(PROXY_PORT) } : withoutProxies(env);
}

/** The variables by which programs find a proxy on the loopback; curl and git read lower case only. */
export function proxyVariables(port: number): Environment {
  const url = `http://127.0.0.1:${port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  return {
    ...Object.fromEntries(names.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, url])),
    NO_PROXY: DIRECT,
    no_proxy: DIRECT,
    npm_config_proxy: url,
    npm_config_https_proxy: url,
    npm_config_noproxy: DIRECT,
    // Node's fetch reads the variables above only then.
    NODE_USE_ENV_PROXY: '1',
  };
}

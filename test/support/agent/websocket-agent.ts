import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type RunningServer, serve } from '../../../src/server/serve.ts';
import type { Log } from '../../../src/system/log.ts';
import { RemotePeer } from '../clients/remote-peer.ts';
import { environment, type Home, type OpenOptions, sessionFiles, TAU, type TestAgent } from './test-agent.ts';

const TOKEN = 'a token of the tests';
const HOUR_MS = 60 * 60 * 1000;

// Flags that choose a session. A server takes the session from the query of the connection instead.
const SESSION_FLAG = /^--(session|session-id|session-dir|continue|resume|no-session|fork)$|^-[cr]$/;

// Flags that become query parameters.
const QUERY_PARAMETERS = ['session', 'stream'] as const;

const silent: Log = { isEnabled: () => false, write: () => {} };

/** Opens an agent behind a server in this process, and connects a client to the server. */
export async function openOverWebSocket(home: Home, args: readonly string[], options: OpenOptions): Promise<TestAgent> {
  const { parameters, rest } = splitQueryParameters(args);
  const server = await startServerFor(home, rest, options);
  const newSession = { new: randomUUID(), ...parameters };
  const connect = (location: object) => {
    const query = new URLSearchParams({ token: TOKEN, ...location });
    return new RemotePeer(`${server.socketUrl}?${query}`, {
      hasForeignFields: options.hasForeignFields,
      greeting: 'state_synced',
      hidesServerFields: true,
    });
  };
  const peer = connect(newSession);
  const join = () => {
    const session = peer.records.findLast(({ type }) => type === 'server_connected')?.['sessionId'];
    return connect(session === undefined ? newSession : { ...parameters, session });
  };
  const files = () => sessionFiles(home);
  const close = () => server.drain(0);
  return { peer, home, transport: 'websocket', process: undefined, sessionFiles: files, close, join };
}

async function startServerFor(home: Home, args: readonly string[], { env }: OpenOptions): Promise<RunningServer> {
  const server = await serve({
    host: '127.0.0.1',
    port: 0,
    cwd: home.cwd,
    agentDir: home.agentDir,
    agent: { command: process.execPath, args: [TAU, ...args], env: environment(home, env) },
    envToken: TOKEN,
    allowOrigins: [],
    allowHosts: [],
    basePath: '',
    behindProxy: false,
    pageFolder: join(home.root, 'no page'),
    parkAfterMs: HOUR_MS,
    pingMs: HOUR_MS,
    maxSessions: 100,
    log: silent,
  });
  onTestFinished(() => server.drain(0));
  return server;
}

/** Splits the arguments into query parameters and the arguments of the agent. */
function splitQueryParameters(args: readonly string[]): {
  parameters: Record<string, string>;
  rest: readonly string[];
} {
  const parameters: Record<string, string> = {};
  let rest = args;
  for (const name of QUERY_PARAMETERS) {
    const at = rest.indexOf(`--${name}`);
    if (at === -1) continue;
    parameters[name] = rest[at + 1] ?? '';
    rest = rest.toSpliced(at, 2);
  }
  const sessionFlag = rest.find((argument) => SESSION_FLAG.test(argument));
  if (sessionFlag !== undefined) throw new Error(`${sessionFlag} means nothing to a server: use LOCAL_TRANSPORTS`);
  return { parameters, rest };
}

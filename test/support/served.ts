import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type RunningServer, serve } from '../../src/server/serve.ts';
import type { Log } from '../../src/system/log.ts';
import { environment, type Home, type OpenOptions, sessionFiles, TAU, type TestAgent } from './open.ts';
import { RemotePeer } from './remote-peer.ts';

const TOKEN = 'a token of the tests';
const HOUR_MS = 60 * 60 * 1000;

/** Arguments with which a session is chosen. Behind the server that does it, from the query of the connection. */
const CHOOSES_SESSION = /^--(session|session-id|session-dir|continue|resume|no-session|fork)$|^-[cr]$/;

/** Arguments that are parameters of the query instead. */
const PARAMETERS = ['session', 'stream'] as const;

const silent: Log = { isEnabled: () => false, write: () => {} };

/** Opens an agent behind a server, which runs in this process, and a client of it. */
export async function openServed(home: Home, args: readonly string[], options: OpenOptions): Promise<TestAgent> {
  const { parameters, rest } = split(args);
  const server = await serveIn(home, rest, options);
  const wanted = { new: randomUUID(), ...parameters };
  const connect = (where: object) => {
    const query = new URLSearchParams({ token: TOKEN, ...where });
    return new RemotePeer(`${server.socketUrl}?${query}`, {
      foreign: options.foreign,
      opening: 'state_synced',
      bare: true,
    });
  };
  const peer = connect(wanted);
  const join = () => {
    const session = peer.records.findLast(({ type }) => type === 'server_connected')?.['sessionId'];
    return connect(session === undefined ? wanted : { ...parameters, session });
  };
  const files = () => sessionFiles(home);
  const close = () => server.drain(0);
  return { peer, home, transport: 'websocket', process: undefined, sessionFiles: files, close, join };
}

async function serveIn(home: Home, args: readonly string[], { env }: OpenOptions): Promise<RunningServer> {
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

/** What of the arguments a client asks of the server, and what is left for the agent. */
function split(args: readonly string[]): { parameters: Record<string, string>; rest: readonly string[] } {
  const parameters: Record<string, string> = {};
  let rest = args;
  for (const name of PARAMETERS) {
    const at = rest.indexOf(`--${name}`);
    if (at === -1) continue;
    parameters[name] = rest[at + 1] ?? '';
    rest = rest.toSpliced(at, 2);
  }
  const other = rest.find((argument) => CHOOSES_SESSION.test(argument));
  if (other !== undefined) throw new Error(`${other} means nothing to a server: the test belongs on LOCAL`);
  return { parameters, rest };
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ClusterIndex } from '../../../src/server/cluster/cluster-index.ts';
import { type ClusterConnection, connectCluster } from '../../../src/server/cluster/connection.ts';
import { FencedLog } from '../../../src/server/cluster/log/fenced-log.ts';
import { createBuckets, createLogStream, NODE_KEY_LIFE_MS } from '../../../src/server/cluster/setup.ts';
import { headerOf, isSessionId, sessionFileName } from '../../../src/store/sessions/header.ts';
import { summaryAt } from '../../../src/store/sessions/listing/list-sessions.ts';
import type { Home } from '../agent/test-agent.ts';
import { ONE_REPLICA } from './cluster-nodes.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

const MAX_BYTES = 256 * 1024 * 1024;

/** The NATS server of each home: a server that is started again finds its sessions. */
const servers = new Map<string, Promise<NatsServer>>();

// Flags about connections of clients: none connect to the serving node.
const CONNECTION_FLAGS: ReadonlySet<string> = new Set([
  '--host',
  '--port',
  '--socket',
  '--behind-proxy',
  '--allow-host',
  '--allow-origin',
  '--base-path',
  '--tokens',
]);

/** Starts the serving node with `start`, then the front node for the clients, each with arguments and environment. */
export async function startBehindFront<T>(
  { home, args }: { home: Home; args: readonly string[] },
  start: (args: readonly string[], env: Record<string, string>) => Promise<T>,
): Promise<{ front: T; serving: T }> {
  const { url } = await natsFor(home);
  const number = ++starts;
  const node = (name: string) => ['--cluster', url, '--node', `${name}-${number}`, ...ONE_REPLICA, '--shared', '/'];
  const servingArgs = flagsFrom(args, (flag) => !CONNECTION_FLAGS.has(flag));
  const serving = await start(['--port', '0', ...servingArgs, ...node('serving')], {});
  const frontArgs = flagsFrom(args, (flag) => flag !== '--max-sessions');
  const agentDir = join(home.root, 'front');
  const front = await start(['--max-sessions', '0', ...frontArgs, ...node('front')], { PI_CODING_AGENT_DIR: agentDir });
  return { front, serving };
}

/** The flags that fit, with their values. */
function flagsFrom(args: readonly string[], fits: (flag: string) => boolean): string[] {
  const groups: string[][] = [];
  for (const arg of args)
    if (arg.startsWith('--') && arg.length > 2) groups.push([arg]);
    else groups.at(-1)?.push(arg);
  return groups.filter(([flag = '']) => fits(flag)).flat();
}

async function natsFor(home: Home): Promise<NatsServer> {
  const started = servers.get(home.root) ?? startCluster(home);
  if (!servers.has(home.root))
    onTestFinished(async () => {
      servers.delete(home.root);
      await (await started).stop('SIGKILL');
    });
  servers.set(home.root, started);
  return started;
}

let starts = 0;

async function startCluster(home: Home): Promise<NatsServer> {
  const server = await startNatsServer();
  const connection = await connectCluster({ servers: [server.url], name: 'test' });
  await createLogStream(connection, { replicas: 1, maxBytes: MAX_BYTES });
  await createBuckets(connection, { replicas: 1, keyLifeMs: NODE_KEY_LIFE_MS });
  const index = await ClusterIndex.open(connection, (error) => {
    throw error;
  });
  for (const path of localSessions(home)) await importSession(path, { connection, index });
  await connection.nats.close();
  return server;
}

function localSessions({ agentDir }: Home): string[] {
  const folder = join(agentDir, 'sessions');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name));
}

/** Puts a session that a test has stored on this machine into the cluster. */
async function importSession(
  path: string,
  { connection, index }: { connection: ClusterConnection; index: ClusterIndex },
) {
  const header = headerOf(path);
  if (typeof header !== 'object' || !isSessionId(header.id)) return;
  const log = new FencedLog(connection, header.id, { name: 'import', incarnation: 'import' });
  await log.claim(undefined);
  await log.append('entries', readFileSync(path));
  await log.append('release', new Uint8Array());
  const summary = await summaryAt(path);
  if (summary)
    await index.put({ ...summary, path: sessionFileName(header.id, new Date(header.timestamp)), node: 'import' });
}

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { emitsTitles } from '../fanout/ui-routing.ts';
import { makeServerFolder, serverFolder } from '../store/agent-dir.ts';
import { RunJournal } from '../store/run-journal.ts';
import type { Log } from '../system/log.ts';
import { openAudit } from './auth/audit.ts';
import { openAuthority } from './auth/authority.ts';
import { cookieNameOf } from './auth/cookies.ts';
import { FileCredentials } from './auth/file-credentials.ts';
import { owner } from './auth/grant.ts';
import { Throttle } from './auth/throttle.ts';
import type { ClusterObserver } from './cluster/observer.ts';
import type { Cluster, ClusterOptions } from './cluster/open-cluster.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import { ExportFolder } from './export-folder.ts';
import { listFolders } from './folders.ts';
import { Gateway } from './gateway/gateway.ts';
import type { AgentLaunch } from './hosting/agent/agent-process.ts';
import { LocalSessions } from './hosting/local-sessions.ts';
import { LocalOwnership } from './hosting/storage/ownership.ts';
import { LocalStorage } from './hosting/storage/session-storage.ts';
import { RequestGuard } from './http/admission/request-guard.ts';
import { createHandler } from './http/handler.ts';
import { type ListeningServer, listenHttp } from './http/listen/listen.ts';
import type { Tls } from './http/listen/tls-files.ts';
import { readPageFiles } from './http/page-files.ts';
import { respondRaw } from './http/responses.ts';
import { Metrics } from './metrics.ts';
import { errorFields, logActivity, ServerLog } from './server-log.ts';
import { serverMetrics } from './server-metrics.ts';
import { SessionCatalog } from './session-catalog.ts';
import { StoredFiles } from './stored-sessions.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** The default for new sessions. */
  readonly cwd: string;
  readonly agentDir: string;
  readonly agent: AgentLaunch;
  readonly tokensFile?: string | undefined;
  readonly envToken?: string | undefined;
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  /** Empty, or with a leading and without a trailing slash. */
  readonly basePath: string;
  readonly tls?: Tls | undefined;
  readonly behindProxy: boolean;
  readonly socketPath?: string | undefined;
  readonly pageFolder: string;
  readonly parkAfterMs: number;
  readonly pingMs: number;
  readonly maxSessions: number;
  /** The cluster that this server is a node of. */
  readonly cluster?: ClusterOptions | undefined;
  readonly log: Log;
}

/** A server that accepts clients. */
export interface RunningServer {
  readonly port: number;
  readonly pageUrl: string;
  /** The WebSocket URL for clients. */
  readonly socketUrl: string;
  /** A link that logs one browser in, once. */
  loginLink(): Promise<string>;
  /** Rejects new clients, waits up to `timeoutMs` for runs to end, then closes everything. */
  drain(timeoutMs: number): Promise<void>;
}

/** The default of sessions at a time. */
export const DEFAULT_MAX_SESSIONS = 100;

/** The default interval of pings. */
export const PING_MS = 20_000;

// The delay after which disconnected clients should retry.
const RETRY_AFTER_MS = 2000;

// How often `drain` checks for running sessions.
const DRAIN_POLL_MS = 50;

/** Starts a server, as a node of a cluster if one is named. Rejects with a sentence if that fails. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { agentDir, agent } = options;
  makeServerFolder(agentDir);
  const log = new ServerLog(options.log);
  const metrics = new Metrics();
  let cluster: Cluster | undefined;
  if (options.cluster) {
    const observer = clusterMetrics(metrics, log, () => cluster?.gauges());
    cluster = await openCluster(options.cluster, { agentDir, env: agent.env, log, observer });
  }
  try {
    return await startServer(options, { cluster, log, metrics });
  } catch (error) {
    // The next server may have the same name.
    await cluster?.close();
    throw error;
  }
}

interface ServerParts {
  readonly cluster: Cluster | undefined;
  readonly log: ServerLog;
  readonly metrics: Metrics;
}

async function startServer(options: ServeOptions, { cluster, log, metrics }: ServerParts): Promise<RunningServer> {
  const { agentDir, basePath, cwd, tls, behindProxy, host, pingMs, maxSessions } = options;
  const audit = openAudit(agentDir);
  const throttle = new Throttle();
  let listening: ListeningServer | undefined;
  let readiness: 'starting' | 'ready' | 'draining' = 'starting';
  const port = () => listening?.port ?? options.port;
  const credentials = cluster?.credentials ?? new FileCredentials(agentDir, options.log);
  const authority = await openAuthority({
    store: credentials,
    tokensFile: options.tokensFile,
    envToken: options.envToken,
    cookies: {
      name: () => credentials.cookieName ?? cookieNameOf(port()),
      basePath,
      secure: tls !== undefined || behindProxy,
    },
    log: options.log,
  });
  const runJournal = new RunJournal(`${serverFolder(agentDir)}/runs`, (error) =>
    log.event('warn', 'marks of runs are not stored', errorFields(error)),
  );
  const sessions = new LocalSessions({
    agent: options.agent,
    storage: cluster?.storage ?? new LocalStorage(new LocalOwnership(), runJournal),
    parkAfterMs: options.parkAfterMs,
    maxHosts: maxSessions,
    onCrash: (sessionId, reason) => {
      counters.onCrash();
      log.event('error', 'agent ended', { sessionId, how: reason });
    },
    onActivity: (sessionId, activity) => logActivity(log, sessionId, activity),
    onStartFailure: (sessionId, reason) => log.event('error', 'agent did not start', { sessionId, why: reason }),
    onError: (error) => log.event('error', 'stumbled', errorFields(error)),
  });
  const allSessions = cluster?.connect(sessions, () => exports.newPath()) ?? sessions;
  const catalog = new SessionCatalog({
    stored: cluster?.stored ?? new StoredFiles({ agentDir, cwd }),
    cwd,
    live: {
      statusOf: (sessionId) => sessions.statusOf(sessionId) ?? cluster?.statusOf(sessionId),
      fileOf: (sessionId) => sessions.fileOf(sessionId),
      folderOf: (sessionId) => sessions.folderOf(sessionId),
    },
  });
  const exports = new ExportFolder({ agentDir, basePath, isGrantValid: (grant) => authority.isValid(grant) });
  const counters = serverMetrics(metrics, {
    hosts: () => sessions.hosts,
    clients: () => gateway.clientCount,
    headersRead: () => catalog.headersRead,
  });
  const gateway = new Gateway({
    sessions: allSessions,
    catalog,
    authority,
    audit,
    metrics: counters,
    exports,
    library: cluster?.library,
    emitTitles: emitsTitles(options.agent.env),
    pingMs,
    // Tokens have a share of the sessions of other nodes, too.
    maxSessions: maxSessions === 0 ? DEFAULT_MAX_SESSIONS : maxSessions,
    unavailability: () => cluster?.unavailability(),
  });
  const guard = new RequestGuard({
    behindProxy,
    basePath,
    authority,
    throttle,
    log,
    audit,
    host,
    isTls: tls !== undefined,
    allowHosts: options.allowHosts,
    allowOrigins: options.allowOrigins,
  });
  const handler = createHandler({
    guard,
    authority,
    throttle,
    logins: {
      redeem: (code) => credentials.codes.redeem(code),
      login: (grant) => authority.login(grant),
      logout: (cookies) => authority.logout(cookies),
    },
    readiness: () => {
      const unavailable = readiness === 'ready' ? cluster?.unavailability() : undefined;
      return unavailable === undefined ? readiness : { unavailable };
    },
    listSessions: (grant, query) => catalog.list(query, grant),
    listFolders: (grant, query) => listFolders(query, grant, cwd),
    prewarm: (session, grant) => gateway.prewarm(session, grant),
    exports: exports.offers,
    pageFiles: readPageFiles(options.pageFolder),
    metrics,
    audit,
    log,
  });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const admission = guard.admit(request, 'upgrade');
    if ('status' in admission) respondRaw(socket, admission);
    else if (admission.path !== '/session') respondRaw(socket, notFoundResponse);
    else gateway.upgrade(request, socket, head, admission);
  };
  listening = await listenHttp({
    host,
    port: options.port,
    socketPath: options.socketPath,
    tls,
    behindProxy,
    handler,
    onUpgrade,
  });
  readiness = 'ready';
  const hostAndPath = `${hostInUrl(host)}:${listening.port}${basePath}`;
  const pageUrl = `${tls ? 'https' : 'http'}://${hostAndPath}/`;
  const { close: stopListening } = listening;
  return {
    port: listening.port,
    pageUrl,
    socketUrl: `${tls ? 'wss' : 'ws'}://${hostAndPath}/session`,
    loginLink: async () => `${pageUrl}#code=${await credentials.codes.issue(owner)}`,
    drain: async (timeoutMs) => {
      readiness = 'draining';
      const draining = sessions.drain();
      gateway.drain(RETRY_AFTER_MS);
      cluster?.publishDraining();
      await draining;
      for (const deadline = performance.now() + timeoutMs; ; ) {
        gateway.drain(RETRY_AFTER_MS);
        const isRunning = await sessions.drain();
        if (!isRunning || performance.now() > deadline) break;
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      }
      // Clients of an aborted run still receive its end.
      await sessions.close();
      await authority.close();
      await cluster?.close();
      gateway.close();
      await stopListening();
      exports.close();
    },
  };
}

const notFoundResponse = { status: 404, code: 'not_found', error: 'There is nothing here' };

/** A wildcard address is reachable as localhost. */
const hostInUrl = (host: string) => {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
};

/** The modules of the cluster are loaded for it alone. */
async function openCluster(
  options: ClusterOptions,
  { log, ...parts }: { agentDir: string; env: AgentLaunch['env']; log: ServerLog; observer: ClusterObserver },
): Promise<Cluster> {
  const onError = (error: unknown) => log.event('error', 'the cluster failed', errorFields(error));
  const onInvalidCredential = (why: string) => log.event('warn', 'invalid credential', { why });
  return (await import('./cluster/open-cluster.ts')).openCluster(options, { ...parts, onError, onInvalidCredential });
}

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { RunJournal } from '../store/run-journal.ts';
import { makeServerFolder, serverFolder } from '../store/agent-dir.ts';
import type { Log } from '../system/log.ts';
import { openAudit } from './auth/audit.ts';
import { LoginCodes } from './auth/login-codes.ts';
import { openAuthority } from './auth/open-authority.ts';
import { owner } from './auth/owner.ts';
import { Throttle } from './auth/throttle.ts';
import { ExportFolder } from './export-folder.ts';
import { listFolders } from './folders.ts';
import { Gateway } from './gateway/gateway.ts';
import type { AgentCommand } from './hosting/agent-process.ts';
import { emitsTitles } from './hosting/dialog-desk.ts';
import { LocalOwnership } from './hosting/local-ownership.ts';
import { LocalSessions } from './hosting/local-sessions.ts';
import { FrontDoor } from './http/front-door.ts';
import { createHandler } from './http/handler.ts';
import { type Listening, listenHttp } from './http/listen.ts';
import { readPageFiles } from './http/page-files.ts';
import { answerRaw } from './http/raw-answer.ts';
import type { Tls } from './http/tls-files.ts';
import { Library } from './library.ts';
import { Metrics } from './metrics.ts';
import { ServerLog, whereabouts } from './server-log.ts';
import { serverMetrics } from './server-metrics.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Where sessions begin when nobody says where. */
  readonly cwd: string;
  readonly agentDir: string;
  /** How agents are started. */
  readonly agent: AgentCommand;
  /** A file of plain tokens. */
  readonly tokensFile?: string | undefined;
  readonly envToken?: string | undefined;
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  /** Empty, or with a slash before it and none after it. */
  readonly basePath: string;
  readonly tls?: Tls | undefined;
  readonly behindProxy: boolean;
  readonly socketPath?: string | undefined;
  /** The folder of the page. */
  readonly pageFolder: string;
  /** How long an idle agent waits for somebody to come. */
  readonly parkAfterMs: number;
  /** How often clients are asked whether they are there. */
  readonly pingMs: number;
  /** How many agents may run at a time. */
  readonly maxSessions: number;
  readonly log: Log;
}

/** A server that takes clients. */
export interface RunningServer {
  readonly port: number;
  /** Where the page is. */
  readonly pageUrl: string;
  /** Where programs connect. */
  readonly socketUrl: string;
  /** A link that lets one browser in, once. */
  loginLink(): string;
  /** Takes nobody any more, lets runs end for so long, then ends everything in good order. */
  drain(patienceMs: number): Promise<void>;
}

/** How often clients are asked whether they are there, unless somebody says otherwise. */
export const PING_MS = 20_000;

/** How long clients are told to wait before they come again. */
const RETRY_AFTER_MS = 2000;

/** How often it is looked whether the last run is over. */
const LOOK_MS = 50;

/** Starts a server: rejects with a sentence when it cannot be. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { agentDir, basePath, cwd, tls, behindProxy, host, pingMs, maxSessions } = options;
  makeServerFolder(agentDir);
  const log = new ServerLog(options.log);
  const metrics = new Metrics();
  const audit = openAudit(agentDir);
  const throttle = new Throttle();
  const codes = new LoginCodes();
  let listening: Listening | undefined;
  let readiness: 'starting' | 'ready' | 'draining' = 'starting';
  const port = () => listening?.port ?? options.port;
  const authority = await openAuthority({
    agentDir,
    tokensFile: options.tokensFile,
    envToken: options.envToken,
    cookies: { port, basePath, secure: tls !== undefined || behindProxy },
    log: options.log,
  });
  const sessions = new LocalSessions({
    agent: options.agent,
    ownership: new LocalOwnership(),
    marks: new RunJournal(`${serverFolder(agentDir)}/runs`),
    parkAfterMs: options.parkAfterMs,
    maxHosts: maxSessions,
    crashed: (sessionId, how) => {
      counted.crashed();
      log.event('error', 'agent gone', { sessionId, how });
    },
    failed: (sessionId, why) => log.event('error', 'agent did not start', { sessionId, why }),
    stumbled: (error) => log.event('error', 'stumbled', whereabouts(error)),
  });
  const library = new Library({ agentDir, cwd, live: sessions });
  const exports = new ExportFolder({ agentDir, basePath, holds: (grant) => authority.holds(grant) });
  const counted = serverMetrics(metrics, { hosts: () => sessions.hosts, clients: () => gateway.clients });
  const gateway = new Gateway({
    sessions,
    library,
    authority,
    audit,
    metrics: counted,
    exports,
    titles: emitsTitles(options.agent.env),
    pingMs,
    maxSessions,
  });
  const doorThrottle = {
    waitMs: (address: string) => throttle.waitOf(address),
    failed: (address: string) => throttle.failed(address),
    succeeded: (address: string) => throttle.succeeded(address),
  };
  const door = new FrontDoor({
    behindProxy,
    basePath,
    authority,
    throttle: doorThrottle,
    log,
    host,
    isTls: tls !== undefined,
    allowHosts: options.allowHosts,
    allowOrigins: options.allowOrigins,
  });
  const handler = createHandler({
    door,
    authority,
    throttle: doorThrottle,
    logins: {
      redeem: (code) => codes.redeem(code),
      login: (grant) => authority.login(grant),
      logout: (cookies) => authority.logout(cookies),
    },
    readiness: () => readiness,
    listSessions: (grant, query) => library.list(query, grant),
    listFolders: (grant, query) => listFolders(query, grant, cwd),
    expect: (session, grant) => gateway.expect(session, grant),
    exports: exports.offers,
    pageFiles: readPageFiles(options.pageFolder),
    metrics,
    audit,
    log,
  });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const admission = door.admit(request, 'upgrade');
    if ('status' in admission) answerRaw(socket, admission);
    else if (admission.path !== '/session') answerRaw(socket, notHere);
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
  const authorityPart = `${hostInUrl(host)}:${listening.port}${basePath}`;
  const pageUrl = `${tls ? 'https' : 'http'}://${authorityPart}/`;
  const { close: stopListening } = listening;
  return {
    port: listening.port,
    pageUrl,
    socketUrl: `${tls ? 'wss' : 'ws'}://${authorityPart}/session`,
    loginLink: () => `${pageUrl}#code=${codes.issue(owner)}`,
    drain: async (patienceMs) => {
      readiness = 'draining';
      for (const deadline = performance.now() + patienceMs; ; ) {
        gateway.drain(RETRY_AFTER_MS);
        const isRunning = [...sessions.hosts].some(({ status }) => status !== 'idle');
        if (!isRunning || performance.now() > deadline) break;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
      // Whoever watches a run that is stopped now hears of its end.
      await sessions.close();
      gateway.close();
      await Promise.all([stopListening(), authority.close()]);
      exports.close();
    },
  };
}

const notHere = { status: 404, code: 'not_found', error: 'There is nothing here' };

/** Whoever listens everywhere can be reached here. */
const hostInUrl = (host: string) => {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
};

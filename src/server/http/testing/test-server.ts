import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openLog } from '../../../system/log.ts';
import { until } from '../../../system/testing/script.ts';
import { type Grant, type Scope, scopes } from '../../auth/grant.ts';
import { listFolders } from '../../folders.ts';
import { Metrics } from '../../metrics.ts';
import { ServerLog } from '../../server-log.ts';
import { RequestGuard, type RequestGuardOptions } from '../admission/request-guard.ts';
import { ExportOffers } from '../export-offers.ts';
import { createHandler } from '../handler.ts';
import { type ListenOptions, listenHttp } from '../listen/listen.ts';
import type { HttpServices } from '../services.ts';
import { type ReceivedResponse, type RequestParams, sendRequest } from './raw-clients.ts';

export const grantOf = (id: string, may: readonly Scope[] = scopes): Grant => ({
  id,
  name: `${id}'s token`,
  scopes: new Set(may),
  allowedPaths: undefined,
  limit: undefined,
  expiresAt: undefined,
});

// Grants by token; the cookie `login=<token>` has the same one.
const grants = new Map([
  ['token-of-ann', grantOf('ann')],
  ['token-of-bob', grantOf('bob', ['prompt'])],
  ['token-of-eve', grantOf('eve', ['view'])],
]);

export const newFolder = () => mkdtempSync(join(tmpdir(), 'tau-http-'));

interface TestServerOptions {
  readonly guard?: Partial<RequestGuardOptions>;
  readonly listen?: Partial<ListenOptions>;
  readonly services?: Partial<HttpServices>;
}

/** Starts a server on a free port with the given differences. */
export async function startServer({ guard = {}, listen = {}, services = {} }: TestServerOptions = {}) {
  const logFile = join(newFolder(), 'log');
  const log = new ServerLog(openLog({ level: 'debug', file: logFile }));
  const failures: string[] = [];
  const throttle = {
    waitMs: () => (failures.length < 3 ? 0 : 1500),
    failed: (address: string) => failures.push(address),
  };
  const authority = {
    grantOf: (token: string) => grants.get(token),
    grantOfCookies: (header: string) => grants.get(/login=([^;\s]+)/.exec(header)?.[1] ?? ''),
  };
  const codes = new Map([['one-time-code', grantOf('ann')]]);
  const logins = {
    redeem: (code: string) => {
      const grant = codes.get(code);
      codes.delete(code);
      return grant;
    },
    login: ({ id }: Grant, { isSecure }: { isSecure: boolean }) => ({
      setCookie: `login=token-of-${id}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`,
    }),
    logout: () => ({ setCookie: 'login=; Max-Age=0' }),
  };
  const requestGuard = new RequestGuard({
    host: '127.0.0.1',
    isTls: listen.tls !== undefined,
    behindProxy: listen.behindProxy ?? false,
    basePath: '',
    allowHosts: [],
    allowOrigins: [],
    authority,
    throttle,
    log,
    audit: { record: () => {} },
    ...guard,
  });
  const exports = new ExportOffers(() => true);
  const metrics = new Metrics();
  const handler = createHandler({
    guard: requestGuard,
    authority,
    throttle,
    logins,
    readiness: () => 'ready',
    listSessions: async (grant, query) => ({ sessions: [], asked: { by: grant.id, ...query } }),
    listFolders: (grant, query) => listFolders(query, grant, newFolder()),
    prewarm: async () => {},
    exports,
    pageFiles: new Map(),
    metrics,
    audit: { record: () => {} },
    log,
    ...services,
  });
  const { port, address, close } = await listenHttp({
    host: '127.0.0.1',
    port: 0,
    handler,
    onUpgrade: (_request, socket) => socket.destroy(),
    ...listen,
  });
  onTestFinished(close);
  const isTls = listen.tls !== undefined;
  const get = (path: string, more: RequestParams = {}): Promise<ReceivedResponse> =>
    sendRequest({ port, path, isTls, ...more });
  const readLog = () => readFileSync(logFile, 'utf8');
  /** Waits until so many requests are logged, then returns the log. */
  const logged = async (requests: number) => {
    await until(() => (readLog().match(/ server answered /g)?.length ?? 0) >= requests);
    return readLog();
  };
  return { port, address, close, get, guard: requestGuard, exports, metrics, failures, logged };
}

export const bearer = (name: string) => ({ headers: { authorization: `Bearer token-of-${name}` } });

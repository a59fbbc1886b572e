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
import { ExportOffers } from '../export-offers.ts';
import { FrontDoor, type FrontDoorOptions } from '../front-door.ts';
import { createHandler } from '../handler.ts';
import { type ListenOptions, listenHttp } from '../listen.ts';
import type { Services } from '../services.ts';
import { type Answer, ask, type Question } from './clients.ts';

/** A token that may do these things. */
export const grantOf = (id: string, may: readonly Scope[] = scopes): Grant => ({
  id,
  name: `${id}'s token`,
  scopes: new Set(may),
  allowedPaths: undefined,
  expiresAt: undefined,
});

/** Everybody that the servers of these tests know, by token; the cookie `login=<token>` says the same. */
const known = new Map([
  ['token-of-ann', grantOf('ann')],
  ['token-of-bob', grantOf('bob', ['prompt'])],
  ['token-of-eve', grantOf('eve', ['view'])],
]);

export const newFolder = () => mkdtempSync(join(tmpdir(), 'tau-http-'));

interface ServedOptions {
  readonly door?: Partial<FrontDoorOptions>;
  readonly listen?: Partial<ListenOptions>;
  readonly services?: Partial<Services>;
}

/** A server on a free port, with whatever the test wants to be different. */
export async function served({ door = {}, listen = {}, services = {} }: ServedOptions = {}) {
  const logFile = join(newFolder(), 'log');
  const log = new ServerLog(openLog({ level: 'debug', file: logFile }));
  const failures: string[] = [];
  const throttle = {
    waitMs: () => (failures.length < 3 ? 0 : 1500),
    failed: (address: string) => failures.push(address),
    succeeded: () => {},
  };
  const authority = {
    grantOf: (token: string) => known.get(token),
    grantOfCookies: (header: string) => known.get(/login=([^;\s]+)/.exec(header)?.[1] ?? ''),
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
  const frontDoor = new FrontDoor({
    host: '127.0.0.1',
    isTls: listen.tls !== undefined,
    behindProxy: listen.behindProxy ?? false,
    basePath: '',
    allowHosts: [],
    allowOrigins: [],
    authority,
    throttle,
    log,
    ...door,
  });
  const exports = new ExportOffers(() => true);
  const metrics = new Metrics();
  const handler = createHandler({
    door: frontDoor,
    authority,
    throttle,
    logins,
    readiness: () => 'ready',
    listSessions: async (grant, query) => ({ sessions: [], asked: { by: grant.id, ...query } }),
    listFolders: (grant, query) => listFolders(query, grant, newFolder()),
    expect: () => {},
    exports,
    pageFiles: new Map(),
    metrics,
    audit: { note: () => {} },
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
  const get = (path: string, more: Question = {}): Promise<Answer> => ask({ port, path, isTls, ...more });
  const written = () => readFileSync(logFile, 'utf8');
  /** Waits for so many answers to be written down, then answers the whole log. */
  const logged = async (answers: number) => {
    await until(() => (written().match(/ server answered /g)?.length ?? 0) >= answers);
    return written();
  };
  return { port, address, close, get, door: frontDoor, exports, metrics, failures, logged };
}

/** What somebody with this token says. */
export const bearer = (name: string) => ({ headers: { authorization: `Bearer token-of-${name}` } });

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Audit } from '../../auth/audit.ts';
import type { Authority } from '../../auth/authority.ts';
import { type Grant, owner } from '../../auth/grant.ts';
import type { ServerLog } from '../../server-log.ts';
import { type AllowListOptions, AllowLists, type ForeignHeader } from './allow-lists.ts';
import { OwnerRequest, plainAddress } from './owner-request.ts';
import { cookieTrust, credentialOf, type Purpose } from './request-credential.ts';

/** The result for an admitted request. */
export interface Admission {
  readonly address: string;
  readonly isOwner: boolean;
  /** Undefined if the request has no valid credential. */
  readonly grant: Grant | undefined;
  /** Whether the client's connection is encrypted, here or at the proxy. */
  readonly isSecure: boolean;
  /** Relative to the base path, with a leading slash, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The response for a rejected request. */
export interface Rejection {
  readonly address: string;
  readonly status: number;
  readonly code: string;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Slows down wrong credentials. */
export interface AttemptThrottle {
  /** Milliseconds until the address may fail again; 0 for now. */
  waitMs(address: string): number;
  failed(address: string): void;
}

export interface RequestGuardOptions extends AllowListOptions {
  readonly behindProxy: boolean;
  /** Empty, or with a leading and without a trailing slash. */
  readonly basePath: string;
  readonly authority: Pick<Authority, 'grantOf' | 'grantOfCookies'>;
  readonly throttle: AttemptThrottle;
  readonly log: ServerLog;
  readonly audit: Audit;
}

/** Checks every request and upgrade first: host, origin, path and credential. */
export class RequestGuard {
  readonly #options: RequestGuardOptions;
  readonly #allowLists: AllowLists;

  /** Throws a sentence if an allowed host or origin is invalid. */
  constructor(options: RequestGuardOptions) {
    this.#options = options;
    this.#allowLists = new AllowLists(options);
  }

  /** Admits a request or returns the response that rejects it. Only an upgrade may carry its token in the query. */
  admit(request: IncomingMessage, purpose: Purpose = 'request'): Admission | Rejection {
    const isOwner = request instanceof OwnerRequest;
    const address = isOwner ? 'socket' : this.#addressOf(request);
    const isSecure = !isOwner && this.#isSecure(request);
    const target = parseTarget(request.url ?? '');
    if (!target) return { address, status: 400, code: 'bad_request', error: 'The request target must be a path' };
    const foreign = isOwner ? undefined : this.#allowLists.findForeign(request, { isSecure });
    if (foreign) return this.#rejectForeign(foreign, address);
    const path = this.#relativePath(target.path);
    if (path === '') return { ...redirectTo(`${this.#options.basePath}/`), address };
    if (path === undefined) return { address, status: 404, code: 'not_found', error: 'There is nothing here' };
    const grant = isOwner ? owner : this.#grantOf(request, { address, purpose, query: target.query });
    if (grant && 'status' in grant) return grant;
    return { address, isOwner, grant, isSecure, path, query: target.query };
  }

  #rejectForeign({ header, value, hint }: ForeignHeader, address: string): Rejection {
    this.#options.log.event('warn', `refused ${header}`, { [header]: value, address, hint });
    if (header === 'host') return { address, status: 421, code: 'foreign_host', error: 'This server has another name' };
    return { address, status: 403, code: 'foreign_origin', error: 'Pages of that origin may not use this server' };
  }

  /** Undefined if the path is not below the base path. */
  #relativePath(path: string): string | undefined {
    const { basePath } = this.#options;
    if (path === basePath) return '';
    return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
  }

  #grantOf(
    request: IncomingMessage,
    { address, ...context }: { address: string; purpose: Purpose; query: URLSearchParams },
  ): Grant | Rejection | undefined {
    const { authority, throttle, log, audit } = this.#options;
    const credential = credentialOf(request, context);
    if (!credential) return undefined;
    if (credential.kind === 'cookies') {
      const trust = cookieTrust(request, context.purpose);
      const grant = trust === 'ignored' ? undefined : authority.grantOfCookies(credential.header);
      return grant && trust === 'refused' ? { ...crossSiteRejection, address } : grant;
    }
    const grant = authority.grantOf(credential.token);
    if (grant) return grant;
    const waitMs = throttle.waitMs(address);
    if (waitMs > 0) return { ...tooManyAttempts(waitMs), address };
    throttle.failed(address);
    log.event('warn', 'refused token', { address });
    // Requests without a token are not audited: they are unlimited in number.
    audit.record({ action: 'refused', address, outcome: 'permission_denied' });
    return undefined;
  }

  /** Behind a proxy the last forwarded address counts: the client can forge those before it. */
  #addressOf({ socket, headers }: IncomingMessage): string {
    const forwarded = this.#options.behindProxy ? lastValue(headers['x-forwarded-for']) : '';
    return plainAddress(isIP(forwarded) === 0 ? (socket.remoteAddress ?? 'gone') : forwarded);
  }

  #isSecure({ headers }: IncomingMessage): boolean {
    const { isTls, behindProxy } = this.#options;
    return isTls || (behindProxy && lastValue(headers['x-forwarded-proto']).toLowerCase() === 'https');
  }
}

const redirectTo = (to: string) => ({
  status: 308,
  code: 'moved',
  error: 'There is a slash at its end',
  headers: { Location: to },
});

const crossSiteRejection = {
  status: 403,
  code: 'foreign_origin',
  error: 'A request with a cookie that changes something needs an Origin header',
};

export const tooManyAttempts = (waitMs: number) => ({
  status: 429,
  code: 'rate_limited',
  error: 'There were too many wrong tokens or codes from your address',
  headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
});

/** Undefined for an absolute URL, which could contradict the Host header. */
function parseTarget(url: string): { path: string; query: URLSearchParams } | undefined {
  if (!url.startsWith('/')) return undefined;
  const [path = ''] = url.split('?', 1);
  return { path, query: new URLSearchParams(url.slice(path.length)) };
}

const lastValue = (header: string | string[] | undefined) =>
  String(header ?? '')
    .split(',')
    .at(-1)
    ?.trim() ?? '';

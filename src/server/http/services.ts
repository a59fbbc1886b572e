import type { Audit } from '../auth/audit.ts';
import type { Authority } from '../auth/authority.ts';
import type { Grant } from '../auth/grant.ts';
import type { FolderListing, FolderQuery } from '../folders.ts';
import type { Metrics } from '../metrics.ts';
import type { ServerLog } from '../server-log.ts';
import type { AttemptThrottle, RequestGuard } from './admission/request-guard.ts';
import type { ExportOffers } from './export-offers.ts';
import type { PageFile } from './page-files.ts';

export interface SessionQuery {
  readonly cwd?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

export interface CookieChange {
  readonly setCookie: string;
}

/** Ready, or the state and perhaps the reason for which the server accepts no clients. */
export type Readiness = 'ready' | 'starting' | 'draining' | { readonly unavailable: string };

/** Creates and ends logins. */
export interface Logins {
  /** Returns the grant of a one-time code, once. */
  redeem(code: string): Grant | undefined | Promise<Grant | undefined>;
  /** Creates a login. With `isSecure`, the cookie is sent over TLS only. */
  login(grant: Grant, options: { readonly isSecure: boolean }): CookieChange | Promise<CookieChange>;
  /** Ends the login in a Cookie header, if any. */
  logout(cookies: string, options: { readonly isSecure: boolean }): CookieChange | Promise<CookieChange>;
}

/** The services that HTTP routes use. */
export interface HttpServices {
  readonly guard: Pick<RequestGuard, 'admit'>;
  readonly authority: Pick<Authority, 'grantOf'>;
  readonly throttle: AttemptThrottle;
  readonly logins: Logins;
  /** The state of the server; only a ready one gets new clients. */
  readonly readiness: () => Readiness;
  /** The sessions that the grant allows, as the response of `list_sessions`. */
  readonly listSessions: (grant: Grant, query: SessionQuery) => Promise<object>;
  readonly listFolders: (grant: Grant, query: FolderQuery) => Promise<FolderListing>;
  readonly prewarm: (session: string, grant: Grant) => Promise<void>;
  readonly exports: Pick<ExportOffers, 'take'>;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly metrics: Metrics;
  readonly audit: Audit;
  readonly log: ServerLog;
}

import type { Audit } from '../auth/audit.ts';
import type { Authority } from '../auth/authority.ts';
import type { Grant } from '../auth/grant.ts';
import type { FolderListing, FolderQuery } from '../folders.ts';
import type { Metrics } from '../metrics.ts';
import type { ServerLog } from '../server-log.ts';
import type { ExportOffers } from './export-offers.ts';
import type { RequestGuard, AttemptThrottle } from './request-guard.ts';
import type { PageFile } from './page-file.ts';

/** Which sessions are wanted, as `list_sessions` takes it. */
export interface SessionQuery {
  readonly cwd?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

/** A header that sets or takes away the cookie. */
export interface CookieChange {
  readonly setCookie: string;
}

/** How people log in. */
export interface Logins {
  /** What a one-time code grants, once. */
  redeem(code: string): Grant | undefined | Promise<Grant | undefined>;
  /** Begins a login. A cookie that is `isSecure` is sent back encrypted only. */
  login(grant: Grant, options: { readonly isSecure: boolean }): CookieChange | Promise<CookieChange>;
  /** Ends the login that is in a Cookie header, if there is one. */
  logout(cookies: string, options: { readonly isSecure: boolean }): CookieChange | Promise<CookieChange>;
}

/** What the answers over HTTP are made of. */
export interface HttpServices {
  readonly guard: Pick<RequestGuard, 'admit'>;
  readonly authority: Pick<Authority, 'grantOf'>;
  readonly throttle: AttemptThrottle;
  readonly logins: Logins;
  /** What the server is doing: only one that is ready is sent new clients. */
  readonly readiness: () => 'ready' | 'starting' | 'draining';
  /** The sessions that somebody may see, as `list_sessions` answers. */
  readonly listSessions: (grant: Grant, query: SessionQuery) => Promise<object>;
  /** The folders in a folder that somebody may open. */
  readonly listFolders: (grant: Grant, query: FolderQuery) => Promise<FolderListing>;
  /** Somebody loads the page of a session, and is about to come there. */
  readonly prewarm: (session: string, grant: Grant) => void;
  readonly exports: Pick<ExportOffers, 'take'>;
  /** By the paths they are asked for. */
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly metrics: Metrics;
  readonly audit: Audit;
  readonly log: ServerLog;
}

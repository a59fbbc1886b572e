import type { Audit } from '../auth/audit.ts';
import type { Authority } from '../auth/authority.ts';
import type { Grant } from '../auth/grant.ts';
import type { SessionCatalog } from '../session-catalog.ts';
import type { Sessions } from '../sessions.ts';
import type { Client } from './client.ts';
import type { InFlightLimit } from './in-flight-limit.ts';

/** What is counted of clients. */
export interface GatewayMetrics {
  onAttach(resume: 'ok' | 'gap' | undefined): void;
  onRecordSent(): void;
  onResponse(command: string, success: boolean): void;
}

/** What the clients of the server need. */
export interface GatewayServices {
  readonly sessions: Sessions;
  readonly catalog: SessionCatalog;
  readonly authority: Pick<Authority, 'isValid'>;
  readonly audit: Audit;
  readonly metrics: GatewayMetrics;
  /** A file that an exported page may be written to, and the address at which it can be fetched once. */
  readonly exports: { readonly newPath: () => string; readonly offer: (path: string, grant: Grant) => string };
  /** Whether every client is given titles. */
  readonly emitTitles: boolean;
  /** How often both sides make sure that the other is still there. */
  readonly pingMs: number;
  /** Whether a client would have its token keep more sessions alive than one may. */
  readonly exceedsSessionQuota: (client: Client, sessionId: string) => boolean;
  /** Of all clients. */
  readonly inFlight: InFlightLimit;
  readonly onClientClosed: (client: Client) => void;
}

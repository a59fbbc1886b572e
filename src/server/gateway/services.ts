import type { Audit } from '../auth/audit.ts';
import type { Authority } from '../auth/authority.ts';
import type { Grant } from '../auth/grant.ts';
import type { SessionCatalog } from '../session-catalog.ts';
import type { SessionLibrary } from '../session-library.ts';
import type { Sessions } from '../sessions.ts';
import type { Client } from './client.ts';
import type { InFlightLimit, SnapshotBudget } from './command-limits.ts';

/** The counters of the gateway. */
export interface GatewayMetrics {
  onAttach(resume: 'ok' | 'gap' | undefined): void;
  onRecordSent(): void;
  onResponse(command: string, success: boolean): void;
}

/** The services that a client of the gateway uses. */
export interface GatewayServices {
  readonly sessions: Sessions;
  readonly catalog: SessionCatalog;
  readonly authority: Pick<Authority, 'isValid'>;
  readonly audit: Audit;
  readonly metrics: GatewayMetrics;
  /** A path for an exported page, and the URL at which it can be fetched once. */
  readonly exports: { readonly newPath: () => string; readonly offer: (path: string, grant: Grant) => string };
  /** Undefined if agents move session files into the trash themselves. */
  readonly library: SessionLibrary | undefined;
  readonly emitTitles: boolean;
  readonly pingMs: number;
  /** Whether the session would exceed the quota of the client's token. */
  readonly exceedsSessionQuota: (client: Client, sessionId: string) => boolean;
  readonly inFlight: InFlightLimit;
  readonly snapshots: SnapshotBudget;
  readonly onClientClosed: (client: Client) => void;
}

import type { Audit } from '../auth/audit.ts';
import type { Authority } from '../auth/authority.ts';
import type { Grant } from '../auth/grant.ts';
import type { Library } from '../library.ts';
import type { Sessions } from '../sessions.ts';
import type { Client } from './client.ts';
import type { Unanswered } from './unanswered.ts';

/** What is counted of clients. */
export interface GatewayMetrics {
  connected(resume: 'ok' | 'gap' | undefined): void;
  told(): void;
  answered(command: string, success: boolean): void;
}

/** What the clients of the server need. */
export interface GatewayServices {
  readonly sessions: Sessions;
  readonly library: Library;
  readonly authority: Pick<Authority, 'holds'>;
  readonly audit: Audit;
  readonly metrics: GatewayMetrics;
  /** A file that an exported page may be written to, and the address at which it can be fetched once. */
  readonly exports: { readonly newPath: () => string; readonly offer: (path: string, grant: Grant) => string };
  /** Whether every client is given titles. */
  readonly titles: boolean;
  /** How often both sides make sure that the other is still there. */
  readonly pingMs: number;
  /** Whether a client would have its token keep more sessions alive than one may. */
  readonly isGreedy: (client: Client, sessionId: string) => boolean;
  /** Of all clients. */
  readonly unanswered: Unanswered;
  readonly left: (client: Client) => void;
}

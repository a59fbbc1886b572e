import { join } from 'node:path';
import type { ErrorCode } from '../../protocol/errors.ts';
import { makeServerFolder, serverFolder } from '../../store/agent-dir.ts';
import { openLog } from '../../system/log.ts';
import type { AuditedAnswer } from '../sessions.ts';
import type { Grant, InboundType } from './grant.ts';

/** A line of the audit log: who did which action. It has no field for tokens, texts or parameters. */
export interface AuditEvent extends Partial<AuditedAnswer> {
  readonly action: 'connect' | 'refused' | 'login' | 'logout' | 'revoked' | 'close' | 'approval' | InboundType;
  readonly grant?: Grant | undefined;
  readonly address?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly outcome: 'ok' | ErrorCode;
  readonly closeCode?: number | undefined;
  /** The number of failures that this line stands for; undefined for one event. */
  readonly count?: number | undefined;
}

export interface Audit {
  record(event: AuditEvent): void;
}

/** The log of deeds: what clients changed, and revocations. */
export const auditPath = (agentDir: string): string => join(serverFolder(agentDir), 'audit.jsonl');

/** The log of accesses: connections, logins and everything that was refused. */
export const accessAuditPath = (agentDir: string): string => join(serverFolder(agentDir), 'audit-access.jsonl');

// Events that a client with the scope `view` can cause at will.
const ACCESSES: ReadonlySet<AuditEvent['action']> = new Set(['connect', 'close', 'login', 'logout', 'refused']);

/**
 * Opens the audit logs: one JSON line for each event, in size-limited files that only the user can read. Accesses and
 * failures have a file of their own, so that they displace no deed.
 */
export function openAudit(agentDir: string, options: { readonly maxBytes?: number } = {}): Audit {
  makeServerFolder(agentDir);
  const deeds = openLog({ ...options, level: 'info', file: auditPath(agentDir) });
  const accesses = openLog({ ...options, level: 'info', file: accessAuditPath(agentDir) });
  return {
    record: ({ action, grant, ...facts }) => {
      const log = ACCESSES.has(action) || facts.outcome !== 'ok' ? accesses : deeds;
      log.write('info', 'audit', action, { grant: grant?.id, name: grant?.name, ...facts });
    },
  };
}

/** Failures of one connection that get a line each. */
export const MAX_AUDITED_FAILURES = 10;

/** Records the first failures of a connection one by one, and the number of further ones at its end. */
export class FailureAudit {
  readonly #audit: Audit;
  #count = 0;
  #last: AuditEvent | undefined;

  constructor(audit: Audit) {
    this.#audit = audit;
  }

  record(event: AuditEvent): void {
    this.#count++;
    this.#last = event;
    if (this.#count <= MAX_AUDITED_FAILURES) this.#audit.record(event);
  }

  close(): void {
    const count = this.#count - MAX_AUDITED_FAILURES;
    if (this.#last && count > 0) this.#audit.record({ ...this.#last, action: 'refused', count });
    this.#count = 0;
  }
}

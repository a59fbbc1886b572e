import { join } from 'node:path';
import type { ErrorCode } from '../../protocol/errors.ts';
import { makeServerFolder, serverFolder } from '../../store/agent-dir.ts';
import { openLog } from '../../system/log.ts';
import type { Grant, InboundType } from './grant.ts';

/** A line of the audit log: who did which action. It has no field for tokens, texts or parameters. */
export interface AuditEvent {
  readonly action: 'connect' | 'refused' | 'login' | 'logout' | 'revoked' | 'close' | InboundType;
  readonly grant?: Grant | undefined;
  readonly address?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly outcome: 'ok' | ErrorCode;
  readonly closeCode?: number | undefined;
}

export interface Audit {
  record(event: AuditEvent): void;
}

export const auditPath = (agentDir: string): string => join(serverFolder(agentDir), 'audit.jsonl');

/** Opens the audit log: one JSON line for each event, in a size-limited file that only the user can read. */
export function openAudit(agentDir: string, options: { readonly maxBytes?: number } = {}): Audit {
  makeServerFolder(agentDir);
  const log = openLog({ ...options, level: 'info', file: auditPath(agentDir) });
  return {
    record: ({ action, grant, ...facts }) =>
      log.write('info', 'audit', action, { grant: grant?.id, name: grant?.name, ...facts }),
  };
}

import { join } from 'node:path';
import type { ErrorCode } from '../../protocol/errors.ts';
import { makeServerFolder, serverFolder } from '../../store/agent-dir.ts';
import { openLog } from '../../system/log.ts';
import type { Grant } from './grant.ts';
import type { InboundType } from './permission.ts';

/** Who did what. There is no place for a token, a text or a parameter. */
export interface AuditEvent {
  readonly action: 'connect' | 'refused' | 'login' | 'logout' | 'revoked' | 'close' | InboundType;
  readonly grant?: Grant | undefined;
  readonly address?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly outcome: 'ok' | ErrorCode;
  /** The code that a connection was closed with. */
  readonly closeCode?: number | undefined;
}

export interface Audit {
  record(event: AuditEvent): void;
}

/** Where the audit log is. */
export const auditPath = (agentDir: string): string => join(serverFolder(agentDir), 'audit.jsonl');

/** Opens the audit log: a JSON line for each event, in a file that only the user can read and that does not grow for ever. */
export function openAudit(agentDir: string, options: { readonly maxBytes?: number } = {}): Audit {
  makeServerFolder(agentDir);
  const log = openLog({ ...options, level: 'info', file: auditPath(agentDir) });
  return {
    record: ({ action, grant, ...facts }) =>
      log.write('info', 'audit', action, { grant: grant?.id, name: grant?.name, ...facts }),
  };
}

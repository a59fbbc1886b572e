import { SessionLog } from './session-log.ts';

/** Names a session that is not open. Rejects with `session_in_use` if it is. */
export async function renameStoredSession(path: string, name: string): Promise<void> {
  const log = await SessionLog.open(path);
  try {
    log.append({ type: 'session_info', name });
    await log.sync();
  } finally {
    await log.close({ keepEmpty: true });
  }
}

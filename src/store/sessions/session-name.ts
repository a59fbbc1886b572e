import { SessionLog } from './session-log.ts';

/** Gives a session that nobody has open a name. */
export async function renameStoredSession(path: string, name: string): Promise<void> {
  const log = await SessionLog.open(path);
  try {
    log.append({ type: 'session_info', name });
    await log.sync();
  } finally {
    await log.close({ keepEmpty: true });
  }
}

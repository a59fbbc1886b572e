import { Refusal } from '../../protocol/errors.ts';
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

/** Normalizes a session name to one line; rejects an empty one. */
export function sessionNameFrom(text: string): string {
  const name = text.replaceAll(/[\r\n]+/g, ' ').trim();
  if (name === '') throw new Refusal('invalid_params', 'Session name cannot be empty');
  return name;
}

import { withTimeout } from '../system/with-timeout.ts';

// Longest delay of a session switch by a hook or a reading client.
const SESSION_GRACE_MS = 3000;

/** Calls a hook outside of a run and ignores its errors. */
export function ignoreErrors(callHook: () => Promise<void> | undefined): Promise<void> | undefined {
  try {
    return callHook()?.catch(() => {});
  } catch {
    return undefined;
  }
}

/** Settles with the work, or after the grace period. */
export async function withinGrace(work: Promise<void> | undefined): Promise<void> {
  if (work !== undefined) await withTimeout(SESSION_GRACE_MS, work, 'It takes too long').catch(() => {});
}

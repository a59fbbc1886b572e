import { withTimeout } from '../system/with-timeout.ts';

/** How long a hook, or a client that still reads in it, may put off that a session is left. */
const SESSION_GRACE_MS = 3000;

/** Settles when a hook outside of a run has heard, whatever it made of it. */
export function ignoreErrors(callHook: () => Promise<void> | undefined): Promise<void> | undefined {
  try {
    return callHook()?.catch(() => {});
  } catch {
    return undefined;
  }
}

/** Settles with the work, or when it takes longer than a session may be kept from being left. */
export async function withinGrace(work: Promise<void> | undefined): Promise<void> {
  if (work !== undefined) await withTimeout(SESSION_GRACE_MS, work, 'It takes too long').catch(() => {});
}

import { withTimeout } from '../system/with-timeout.ts';

/** How long a hook, or a client that still reads in it, may put off that a session is left. */
const PATIENCE_MS = 3000;

/** Settles when a hook outside of a run has heard, whatever it made of it. */
export function heard(tell: () => Promise<void> | undefined): Promise<void> | undefined {
  try {
    return tell()?.catch(() => {});
  } catch {
    return undefined;
  }
}

/** Settles with the work, or when it takes longer than a session may be kept from being left. */
export async function soon(work: Promise<void> | undefined): Promise<void> {
  if (work !== undefined) await withTimeout(PATIENCE_MS, work, 'It takes too long').catch(() => {});
}

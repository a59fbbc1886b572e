import { setTimeout as delay } from 'node:timers/promises';

// A tight loop would take the processor from the process that it waits for.
const POLL_MS = 10;

/** Settles when a state that has no event is due to be checked again. */
export const untilNextPoll = (): Promise<void> => delay(POLL_MS);

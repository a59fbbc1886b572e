import type { Settings } from '../store/settings.ts';
import type { StreamTimeouts } from './endpoint.ts';

const CONNECT_TIMEOUT_MS = 15_000;
const FIRST_BYTE_TIMEOUT_MS = 300_000;
const BETWEEN_CHUNKS_TIMEOUT_MS = 120_000;

/** The timeouts of the user's settings. pi has one timeout for the whole response; tau's `stall` is finer and wins. */
export function streamTimeouts({ stall = {}, httpIdleTimeoutMs }: Settings): StreamTimeouts {
  return {
    connectMs: stall.connectMs ?? CONNECT_TIMEOUT_MS,
    firstByteMs: stall.firstByteMs ?? httpIdleTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS,
    betweenMs: stall.betweenMs ?? httpIdleTimeoutMs ?? BETWEEN_CHUNKS_TIMEOUT_MS,
  };
}

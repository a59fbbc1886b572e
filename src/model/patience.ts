import type { Settings } from '../store/settings.ts';
import type { Patience } from './endpoint.ts';

const CONNECT_MS = 15_000;
const FIRST_BYTE_MS = 300_000;
const BETWEEN_MS = 120_000;

/** How long providers may keep silent. pi knows one limit for all of an answer; `stall` is finer, and wins. */
export function patienceOf({ stall = {}, httpIdleTimeoutMs }: Settings): Patience {
  return {
    connectMs: stall.connectMs ?? CONNECT_MS,
    firstByteMs: stall.firstByteMs ?? httpIdleTimeoutMs ?? FIRST_BYTE_MS,
    betweenMs: stall.betweenMs ?? httpIdleTimeoutMs ?? BETWEEN_MS,
  };
}

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;
const TIMEOUT_MS = 5000;
const IDLE_SHARE = 0.8;

/** Waits at most 5 s until the processors are idle; false if they stayed busy. */
export async function waitForIdleCpu() {
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline) {
    const before = ticks();
    await sleep(POLL_MS);
    const after = ticks();
    if ((after.idle - before.idle) / (after.all - before.all) >= IDLE_SHARE) return true;
  }
  return false;
}

/** Idle and total ticks of all processors since boot. */
function ticks() {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/);
  const counts = fields.map(Number);
  const [, , , idle, iowait] = counts;
  return { idle: idle + iowait, all: counts.reduce((sum, count) => sum + count, 0) };
}

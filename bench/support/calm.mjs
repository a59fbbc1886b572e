import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 100;
const PATIENCE_MS = 5000;
const IDLE_SHARE = 0.8;

/** Waits until others leave the processors alone, for a few seconds at most; false when they did not. */
export async function calm() {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const before = ticks();
    await sleep(LOOK_MS);
    const after = ticks();
    if ((after.idle - before.idle) / (after.all - before.all) >= IDLE_SHARE) return true;
  }
  return false;
}

/** What all processors did since boot. */
function ticks() {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/);
  const counts = fields.map(Number);
  const [, , , idle, iowait] = counts;
  return { idle: idle + iowait, all: counts.reduce((sum, count) => sum + count, 0) };
}

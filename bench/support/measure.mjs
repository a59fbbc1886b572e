import { calm } from './calm.mjs';
import { mediansOf } from './median.mjs';

/**
 * Runs one benchmark and answers its rows.
 *
 * Every round calls each sampler once, forwards and backwards by turns, so that a busy moment of the machine falls on
 * the value and on its reference alike. The first round only warms the caches of the system up. `busy` counts the
 * rounds that had to begin while others used the machine.
 */
export async function measure({ name, rounds, samplers, rows }, { place, rounds: given, progress }) {
  const count = given ?? rounds;
  const entries = Object.entries(samplers(place));
  const samples = Object.fromEntries(entries.map(([key]) => [key, []]));
  let busy = 0;
  for (let round = 0; round <= count; round++) {
    progress({ name, round, count });
    if (!(await calm()) && round > 0) busy += 1;
    for (const [key, sample] of round % 2 ? entries.toReversed() : entries) {
      const taken = await sample();
      if (round > 0) samples[key].push(taken);
    }
  }
  const medians = Object.fromEntries(entries.map(([key]) => [key, mediansOf(samples[key])]));
  return { name, rows: rows(medians).map((row) => ({ name, ...row })), samples, busy, rounds: count };
}

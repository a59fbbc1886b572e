import { waitForIdleCpu } from './idle-cpu.mjs';
import { mediansOf } from './median.mjs';

/**
 * Runs one benchmark and returns its rows.
 *
 * Every round calls each sampler once, in alternating order, so that load of other programs affects a value and its
 * reference alike. The first round only warms the system's caches. `busy` counts rounds that started under load.
 */
export async function measure({ name, rounds, samplers, rows }, { workspace, rounds: given, progress }) {
  const count = given ?? rounds;
  const entries = Object.entries(samplers(workspace));
  const samples = Object.fromEntries(entries.map(([key]) => [key, []]));
  let busy = 0;
  for (let round = 0; round <= count; round++) {
    progress({ name, round, count });
    if (!(await waitForIdleCpu()) && round > 0) busy += 1;
    for (const [key, sample] of round % 2 ? entries.toReversed() : entries) {
      const taken = await sample();
      if (round > 0) samples[key].push(taken);
    }
  }
  const medians = Object.fromEntries(entries.map(([key]) => [key, mediansOf(samples[key])]));
  return { name, rows: rows(medians).map((row) => ({ name, ...row })), samples, busy, rounds: count };
}

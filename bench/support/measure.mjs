import { waitForIdleCpu } from './idle-cpu.mjs';
import { mediansOf } from './median.mjs';

// A sample that does not end must not hide the other rows.
const MAX_SAMPLE_MS = 600_000;

/**
 * Runs one benchmark and returns its rows.
 *
 * Every round calls each sampler once, in alternating order, so that load of other programs affects a value and its
 * reference alike. The first round only warms the system's caches, unless the benchmark needs none. `busy` counts rounds
 * that started under load. `open` starts what all rounds use.
 */
export async function measure(benchmark, { workspace, rounds: given, progress }) {
  const opened = await benchmark.open?.(workspace);
  try {
    return await measureRounds(benchmark, { workspace, opened, given, progress });
  } finally {
    await opened?.close();
  }
}

async function measureRounds(benchmark, { workspace, opened, given, progress }) {
  const { name, rounds, samplers, rows, warmUpRounds = 1 } = benchmark;
  const count = given ?? rounds;
  const entries = Object.entries(await inTime(samplers(workspace, opened)));
  const samples = Object.fromEntries(entries.map(([key]) => [key, []]));
  let busy = 0;
  for (let round = 1 - warmUpRounds; round <= count; round++) {
    progress({ name, round, count, isFirst: round === 1 - warmUpRounds });
    if (!(await waitForIdleCpu()) && round > 0) busy += 1;
    for (const [key, sample] of round % 2 ? entries.toReversed() : entries) {
      const taken = await inTime(sample());
      if (round > 0) samples[key].push(taken);
    }
  }
  const medians = Object.fromEntries(entries.map(([key]) => [key, mediansOf(samples[key])]));
  return { name, rows: rows(medians).map((row) => ({ name, ...row })), samples, busy, rounds: count };
}

/** Rejects if the work does not end. */
async function inTime(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No end after ${MAX_SAMPLE_MS} ms`)), MAX_SAMPLE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

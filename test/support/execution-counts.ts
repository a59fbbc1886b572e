import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

// Functions have counters only if they are compiled while counting is on, and lose them when recompiled.
setFlagsFromString('--no-flush-bytecode');
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** Counts executed code blocks below a source folder while `work` runs: a cost measure without a clock. */
export async function countExecutions(folder: string, work: () => void): Promise<number> {
  const counts = async () => (await session.post('Profiler.takePreciseCoverage')).result;
  await counts();
  work();
  const pieces = (await counts())
    .filter(({ url }) => url.includes(folder))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
  return pieces.reduce((sum, { count }) => sum + count, 0);
}

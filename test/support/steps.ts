import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

// Only what was compiled while it is counted has counters in it, and it loses them when it is compiled anew.
setFlagsFromString('--no-flush-bytecode');
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** How often any piece of the code below a folder of the sources ran while something was done: a measure without a clock. */
export async function stepsOf(folder: string, work: () => void): Promise<number> {
  const counts = async () => (await session.post('Profiler.takePreciseCoverage')).result;
  await counts();
  work();
  const pieces = (await counts())
    .filter(({ url }) => url.includes(folder))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
  return pieces.reduce((sum, { count }) => sum + count, 0);
}

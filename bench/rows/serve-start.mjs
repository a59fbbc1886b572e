import { join } from 'node:path';
import { cpuMicros } from '../support/process-stats.mjs';

/** The start of a server without a cluster, compared with that of an earlier build in the folder `before`. */
export const serveStart = (before) => ({
  name: 'serve-start',
  rounds: 15,

  samplers(workspace) {
    const started = (program) => () => workspace.program(program, ['serve', '--port', '0'], { use: firstLine });
    return {
      now: started(workspace.path('dist/tau.cjs')),
      ...(before === undefined ? {} : { before: started(join(before, 'tau.cjs')) }),
    };
  },

  rows({ now, before }) {
    const row = (what, key) => ({ what, unit: 'ms', value: now[key], reference: before?.[key] });
    const limit = before && { ratio: 1.02 };
    return [{ ...row('without --cluster, first line', 'ms'), limit }, row('CPU until then', 'cpu')];
  },
});

async function firstLine(child) {
  const ms = (await child.until('http://')) - child.startedAt;
  const sample = { ms, cpu: cpuMicros(child.pid) / 1000 };
  // A server keeps running when its input ends.
  child.kill();
  return sample;
}

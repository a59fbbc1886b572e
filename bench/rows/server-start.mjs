import { cpuMicros, residentMb } from '../support/process-stats.mjs';

const HELLO = `process.stdout.write('x\\n'); process.stdin.resume()`;

/** From spawn to the first line of a server, printed when it accepts clients. */
export const serverStart = {
  name: 'server-start',
  rounds: 15,

  samplers(workspace) {
    const printed = (beginning) => async (child) => {
      const ms = (await child.until(beginning)) - child.startedAt;
      const sample = { ms, cpu: cpuMicros(child.pid) / 1000, mb: residentMb(child.pid) };
      // A server keeps running when its input ends.
      child.kill();
      return sample;
    };
    const tau = workspace.path('dist/tau.cjs');
    return {
      node: () => workspace.node(HELLO, printed('x')),
      server: () => workspace.program(tau, ['serve', '--port', '0'], { use: printed('http://') }),
    };
  },

  rows({ node, server }) {
    const row = (what, unit, key) => ({ what, unit, value: server[key], reference: node[key] });
    return [row('first line', 'ms', 'ms'), row('CPU until then', 'ms', 'cpu'), row('resident then', 'MB', 'mb')];
  },
};

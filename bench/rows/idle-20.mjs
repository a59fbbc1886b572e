import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicros, proportionalMb } from '../support/process-stats.mjs';

const AGENTS = 20;
const SETTLE_MS = 1000;
const WATCH_MS = 2000;

/** Twenty idle agents. */
export const idle20 = {
  name: 'idle-20',
  rounds: 3,

  samplers(workspace) {
    return {
      node: () => idle((use) => workspace.node(`process.stdout.write('{"id":1,\\n'); process.stdin.resume()`, use)),
      tau: () => idle((use) => workspace.agent([], use)),
    };
  },

  rows({ node, tau }) {
    return [
      {
        what: 'memory of 20, shared pages counted once',
        unit: 'MB',
        value: tau.mb,
        reference: node.mb,
        limit: { value: 350 },
      },
      { what: 'CPU of 20 in a second', unit: 'ms', value: tau.cpu, limit: { value: 4 } },
    ];
  },
};

/** Starts the children, measures all of them when the last one is ready, and ends them. */
async function idle(start) {
  const pids = [];
  let open;
  const measured = new Promise((resolve) => {
    open = resolve;
  });
  const use = async (child) => {
    await child.request({ id: 1, type: 'get_state' });
    if (pids.push(child.pid) === AGENTS) open(measure(pids));
    return measured;
  };
  const [sample] = await Promise.all(Array.from({ length: AGENTS }, () => start(use)));
  return sample;
}

async function measure(pids) {
  await sleep(SETTLE_MS);
  const before = sum(pids, cpuMicros);
  await sleep(WATCH_MS);
  const after = sum(pids, cpuMicros);
  return { mb: sum(pids, proportionalMb), cpu: (after - before) / WATCH_MS };
}

const sum = (pids, fact) => pids.reduce((total, pid) => total + fact(pid), 0);

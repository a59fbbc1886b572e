import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicros, peakMb, residentMb } from '../support/process-stats.mjs';
import { streamed, streamScript } from '../support/stream.mjs';

const DELTAS = 40_000;
const QUIET_MS = 300;

/** A client that stops reading in the middle of a response. */
export const stalledReader = {
  name: 'stalled-reader',
  rounds: 5,

  samplers(workspace) {
    const script = workspace.file('once.jsonl', streamScript(DELTAS));
    const agent = (use) => workspace.agent(['--no-session', '--stream', 'cumulative', '--script', script], use);
    return { reading: () => agent(streamed), stalled: () => agent(stalled) };
  },

  rows({ reading, stalled }) {
    return [
      { what: 'peak memory over ready', unit: 'MB', value: stalled.growthMb, reference: reading.growthMb },
      { what: 'resume to agent_settled', unit: 'ms', value: stalled.ms },
    ];
  },
};

async function stalled(child) {
  await child.request({ id: 1, type: 'get_state' });
  const readyMb = residentMb(child.pid);
  const settled = child.until('{"type":"agent_settled"');
  const begun = child.until('{"type":"message_update"');
  child.send({ id: 2, type: 'prompt', message: 'go' });
  await begun;
  child.pause();
  await quiet(child.pid);
  const growthMb = peakMb(child.pid) - readyMb;
  const resumed = performance.now();
  child.resume();
  return { growthMb, ms: (await settled) - resumed };
}

/** Settles when the process uses no CPU: it waits for its reader or has finished. */
async function quiet(pid) {
  for (let before = -1, now = cpuMicros(pid); now - before > 1000; ) {
    before = now;
    await sleep(QUIET_MS);
    now = cpuMicros(pid);
  }
}

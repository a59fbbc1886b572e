import { median } from '../support/median.mjs';

const PROMPTS = 100;
const COLD = 10;

/** From a prompt to `agent_end`, with a model that responds at once. */
export const prompt = {
  name: 'prompt',
  rounds: 7,

  samplers(workspace) {
    const script = workspace.file('instant.jsonl', '{"text":"ok"}\n{"repeat":true}\n');
    return {
      memory: () => workspace.agent(['--no-session', '--script', script], prompts),
      disk: () => workspace.agent(['--script', script], prompts),
    };
  },

  rows({ memory, disk }) {
    const row = (what, value, reference) => ({ what, unit: 'ms', value, reference });
    return [
      { ...row('warm, without a session', memory.warm, memory.state), limit: { value: 3 } },
      row('warm, with a session on disk', disk.warm, disk.state),
      row('first, without a session', memory.first, memory.state),
    ];
  },
};

/** Sends prompts one after another; a get_state before each measures the bare round trip. */
async function prompts(child) {
  await child.request({ id: 0, type: 'get_state' });
  const times = [];
  const states = [];
  for (let id = 1; id <= PROMPTS; id++) {
    const before = performance.now();
    states.push((await child.request({ id: -id, type: 'get_state' })) - before);
    const settled = child.until('{"type":"agent_settled"');
    const ended = child.until('{"type":"agent_end"');
    const sent = performance.now();
    child.send({ id, type: 'prompt', message: 'go' });
    times.push((await ended) - sent);
    await settled;
  }
  return { first: times[0], warm: median(times.slice(COLD)), state: median(states.slice(COLD)) };
}

import { median } from '../support/median.mjs';
import { overHttp } from '../support/over-http.mjs';

const PROMPTS = 100;
const COLD = 20;

/** From a prompt to `agent_settled`, with a model behind HTTP that responds at once. */
export const promptHttp = {
  name: 'prompt-http',
  rounds: 7,

  samplers: (workspace) => overHttp(workspace, 'ok', prompts),

  rows({ tau, node }) {
    const row = (what, key) => ({ what, unit: 'ms', value: tau[key], reference: node[key] });
    return [{ ...row('warm', 'warm'), limit: { over: 4 } }, row('first of a process', 'first')];
  },
};

async function prompts(child) {
  await child.request({ id: 0, type: 'get_state' });
  const times = [];
  for (let id = 1; id <= PROMPTS; id++) {
    const settled = child.until('{"type":"agent_settled"');
    const sent = performance.now();
    child.send({ id, type: 'prompt', message: 'go' });
    times.push((await settled) - sent);
  }
  return { first: times[0], warm: median(times.slice(COLD)) };
}

import { median } from '../support/median.mjs';
import { overHttp } from '../support/over-http.mjs';

const PROMPTS = 60;
const COLD = 20;

/** From the first delta of a model behind HTTP to its arrival at the client. */
export const firstToken = {
  name: 'first-token',
  rounds: 7,

  samplers: (workspace) => overHttp(workspace, 'slow', timeFirstDeltas),

  rows({ tau, node }) {
    const row = (what, key) => ({ what, unit: 'ms', value: tau[key], reference: node[key] });
    return [{ ...row('warm', 'warm'), limit: { over: 0.8 } }, row('first answer of a process', 'first')];
  },
};

async function timeFirstDeltas(child, { writtenAt }) {
  await child.request({ id: 0, type: 'get_state' });
  const receivedAt = [];
  for (let id = 1; id <= PROMPTS; id++) {
    const settled = child.until('{"type":"agent_settled"');
    const received = child.until('{"type":"message_update","assistantMessageEvent":{"type":"text_delta"');
    child.send({ id, type: 'prompt', message: 'go' });
    receivedAt.push(await received);
    await settled;
  }
  const written = await writtenAt();
  const times = receivedAt.map((at, index) => at - written[index]);
  return { first: times[0], warm: median(times.slice(COLD)) };
}

import { callScript } from '../../support/call-script.mjs';
import { median, percentile } from '../../support/median.mjs';
import { withServer } from '../../support/server.mjs';

const QUESTIONS = 50;
const COLD = 5;

/** From a question at a client that answers at once to the running tool, on a server. */
export const approvalsQuestion = {
  name: 'approvals-question',
  rounds: 5,

  samplers(workspace) {
    const script = callScript(workspace, 'approvals-question', { tool: 'bash', args: { command: 'true' } });
    return {
      asked: () => withServer(workspace, { script, args: ['--approvals', 'ask', '--sandbox', 'off'] }, answerAll),
    };
  },

  rows({ asked }) {
    return [
      { what: 'question to running tool, median', unit: 'ms', value: asked.median, limit: { value: 5 } },
      { what: 'question to running tool, p95', unit: 'ms', value: asked.p95 },
    ];
  },
};

async function answerAll(server) {
  const client = await server.connect();
  const times = [];
  for (let count = 0; count < QUESTIONS + COLD; count++) times.push(await answerOne(client));
  client.close();
  const warm = times.slice(COLD);
  return { median: median(warm), p95: percentile(warm, 0.95) };
}

async function answerOne(client) {
  const asked = client.record('"type":"extension_ui_request"');
  const settled = client.until('"type":"agent_settled"');
  client.send({ id: 'prompt', type: 'prompt', message: 'go' });
  const { id } = await asked;
  const at = performance.now();
  const running = client.until('"type":"tool_execution_update"');
  client.send({ type: 'extension_ui_response', id, value: 'Allow once' });
  const ms = (await running) - at;
  await settled;
  return ms;
}

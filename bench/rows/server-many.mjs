import { withServer } from '../support/server.mjs';
import { DELTA } from '../support/stream.mjs';

const SESSIONS = 50;
const DELTAS = 150;
const SPACING_MS = 20;
/** Deltas to skip: a fresh agent is slow at first. */
const WARM_UP = 25;

/** Fifty sessions stream at the same time; the reference reads as many agents without a server. */
export const serverMany = {
  name: 'server-many',
  rounds: 3,

  samplers(workspace) {
    const answer = { text: DELTA, times: DELTAS, delayMs: SPACING_MS };
    const script = workspace.file('many.jsonl', `${JSON.stringify(answer)}\n`);
    return {
      server: () => withServer(workspace, { script, args: ['--max-sessions', '60'] }, served),
      direct: () => direct(workspace, script),
    };
  },

  rows({ server, direct }) {
    return [
      {
        what: 'time between two deltas, p99',
        unit: 'ms',
        value: server.ms,
        reference: direct.ms,
        limit: { over: 10 },
      },
    ];
  },
};

async function served({ connect }) {
  const clients = [];
  for (let session = 0; session < SESSIONS; session++) clients.push(await connect());
  const settled = clients.map((client) => client.until('"type":"agent_settled"'));
  for (const client of clients) client.send({ type: 'prompt', message: 'go' });
  await Promise.all(settled);
  for (const client of clients) client.close();
  return { ms: slowest(clients.map(({ times }) => times)) };
}

async function direct(workspace, script) {
  const all = await Promise.all(
    Array.from({ length: SESSIONS }, () => workspace.agent(['--stream', 'delta', '--script', script], timed)),
  );
  return { ms: slowest(all) };
}

let ready = [];

/** Starts to stream when all agents are ready. */
async function timed(child) {
  await child.request({ id: 1, type: 'get_state' });
  await new Promise((resolve) => {
    ready.push(resolve);
    if (ready.length < SESSIONS) return;
    for (const begin of ready) begin();
    ready = [];
  });
  const times = [];
  let isOver = false;
  const settled = child.until('{"type":"agent_settled"').then(() => {
    isOver = true;
  });
  child.send({ id: 2, type: 'prompt', message: 'go' });
  while (!isOver) {
    const next = child.until('{"type":"message_update","assistantMessageEvent":{"type":"text_delta"');
    next.catch(() => undefined);
    await Promise.race([next.then((at) => times.push(at)), settled]);
  }
  return times;
}

function slowest(all) {
  const gaps = all.flatMap((times) => times.slice(WARM_UP).map((at, index) => at - times[WARM_UP + index - 1]));
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length * 0.99)];
}

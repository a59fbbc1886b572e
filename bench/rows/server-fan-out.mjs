import { cpuMicros, residentMb } from '../support/process-stats.mjs';
import { withServer } from '../support/server.mjs';
import { DELTA } from '../support/stream.mjs';

const CLIENTS = 200;
const DELTAS = 250;
const SPACING_MS = 20;

/** Two hundred clients receive one streamed response. */
export const serverFanOut = {
  name: 'server-fan-out',
  rounds: 3,

  samplers(workspace) {
    const answer = { text: DELTA, times: DELTAS, delayMs: SPACING_MS };
    const script = workspace.file('fan-out.jsonl', `${JSON.stringify(answer)}\n`);
    return { server: () => withServer(workspace, { script }, fannedOut) };
  },

  rows({ server }) {
    return [
      { what: 'CPU per client and record', unit: 'µs', value: server.cpu, limit: { value: 15 } },
      { what: 'memory over one client', unit: 'MB', value: server.mb, limit: { value: 60 } },
    ];
  },
};

async function fannedOut({ pid, connect }) {
  const first = await connect();
  const before = residentMb(pid);
  const others = await Promise.all(Array.from({ length: CLIENTS - 1 }, () => connect({ session: first.sessionId })));
  const clients = [first, ...others];
  const known = clients.reduce((sum, { records }) => sum + records, 0);
  const settled = clients.map((client) => client.until('"type":"agent_settled"'));
  const cpu = cpuMicros(pid);
  first.send({ type: 'prompt', message: 'go' });
  await Promise.all(settled);
  const used = cpuMicros(pid) - cpu;
  const mb = residentMb(pid) - before;
  const records = clients.reduce((sum, client) => sum + client.records, 0) - known;
  const whole = DELTA.repeat(DELTAS);
  if (!clients.every(({ text }) => text === whole)) throw new Error('Clients received different texts');
  for (const client of clients) client.close();
  return { cpu: used / records, mb };
}

import { residentMb } from '../support/process-stats.mjs';
import { withServer } from '../support/server.mjs';
import { streamScript } from '../support/stream.mjs';

const WARM_UP = 80;
const SESSIONS = 120;

/** A small heap keeps garbage from piling up: growth is retained memory. */
const LITTLE_ROOM = ['--max-old-space-size=24', '--max-semi-space-size=1'];

/** Sessions that were used once and whose agents are parked. */
export const serverParked = {
  name: 'server-parked',
  rounds: 3,

  samplers(workspace) {
    const script = workspace.file('parked.jsonl', streamScript(50));
    return { server: () => withServer(workspace, { script, args: ['--park-after', '0'], node: LITTLE_ROOM }, parked) };
  },

  rows({ server }) {
    return [{ what: 'memory of the server for one', unit: 'KB', value: server.kb, limit: { value: 50 } }];
  },
};

async function parked({ pid, connect }) {
  await used(connect, WARM_UP);
  const before = residentMb(pid);
  await used(connect, SESSIONS);
  return { kb: ((residentMb(pid) - before) * 1000) / SESSIONS };
}

async function used(connect, count) {
  for (let session = 0; session < count; session++) {
    const client = await connect();
    const settled = client.until('"type":"agent_settled"');
    client.send({ type: 'prompt', message: 'go' });
    await settled;
    client.close();
  }
}

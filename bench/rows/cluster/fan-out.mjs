import { onCluster } from '../../support/cluster/cluster.mjs';
import { cpuMicros } from '../../support/process-stats.mjs';
import { DELTA } from '../../support/stream.mjs';

const CLIENTS = 200;
const DELTAS = 250;
const SPACING_MS = 20;

/** Two hundred clients of another node receive one streamed response. */
export const clusterFanOut = onCluster({
  name: 'cluster-fan-out',
  rounds: 3,

  async samplers(workspace, cluster) {
    const answer = { text: DELTA, times: DELTAS, delayMs: SPACING_MS };
    const script = workspace.file('cluster-fan-out.jsonl', `{"text":"ok"}\n${JSON.stringify(answer)}\n`);
    const single = await cluster.startSingle({ script });
    const owner = await cluster.startNode({ script });
    const other = await cluster.startNode({ script });
    const channel = await channelBytes(cluster.nats);
    return {
      single: () => fannedOut(single, single, channel),
      other: () => fannedOut(owner, other, channel),
    };
  },

  rows({ single, other }) {
    return [
      {
        what: 'CPU of another node per client and record',
        unit: 'µs',
        value: other.cpu,
        reference: single.cpu,
        limit: { ratio: 1.1 },
      },
      {
        what: 'bytes between the nodes per record of 200 clients; reference: the record',
        unit: 'B',
        value: other.sent,
        reference: other.size,
        limit: { ratio: 1.3 },
      },
    ];
  },
});

/** Counts what nodes send to each other: content and headers. */
async function channelBytes(nats) {
  const connection = await nats.connection();
  const counter = { bytes: 0 };
  connection.subscribe('tau.v1.node.*.*.channel', {
    callback: (_, { data, headers }) => {
      counter.bytes += data.length;
      for (const [name, values] of headers ?? []) counter.bytes += `${name}: ${values.join()}\r\n`.length;
    },
  });
  await connection.flush();
  return counter;
}

async function fannedOut(owner, entry, channel) {
  const first = await owner.connect();
  await run(first);
  const session = first.sessionId;
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => entry.connect({ session })));
  const before = totals(clients);
  const bytes = channel.bytes;
  const settled = clients.map((client) => client.until('"type":"agent_settled"'));
  const cpu = cpuMicros(entry.pid);
  first.send({ type: 'prompt', message: 'go' });
  await Promise.all(settled);
  const used = cpuMicros(entry.pid) - cpu;
  const records = totals(clients).records - before.records;
  const size = (totals(clients).bytes - before.bytes) / records;
  const sent = (channel.bytes - bytes) / (records / CLIENTS);
  const whole = DELTA.repeat(DELTAS);
  if (!clients.every(({ text }) => text === whole)) throw new Error('Clients received different texts');
  for (const client of [first, ...clients]) client.close();
  return { cpu: used / records, size, sent };
}

/** A session is in the list of the cluster after its first run. */
async function run(client) {
  const settled = client.until('"type":"agent_settled"');
  client.send({ type: 'prompt', message: 'begin' });
  await settled;
}

const totals = (clients) => ({
  records: clients.reduce((sum, { records }) => sum + records, 0),
  bytes: clients.reduce((sum, { bytes }) => sum + bytes, 0),
});

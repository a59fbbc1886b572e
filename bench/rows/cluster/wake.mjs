import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { onCluster } from '../../support/cluster/cluster.mjs';

/** A prompt, 998 tool calls with their results, an answer: 2,000 messages. */
const CALLS = 999;
const POLL_MS = 10;

/** Starts the agent of a parked session of 2,000 entries again. */
export const clusterWake = onCluster({
  name: 'cluster-wake',
  rounds: 5,

  async samplers(workspace, cluster) {
    workspace.file('project/notes.txt', 'a line of the notes\n'.repeat(10));
    const call = `${JSON.stringify({ toolCall: { name: 'read', arguments: { path: 'notes.txt' } } })}\n`;
    const script = workspace.file('cluster-wake.jsonl', `${call.repeat(CALLS)}{"text":"ok"}\n`);
    const options = { script, args: ['--park-after', '0'] };
    const single = await cluster.startSingle(options);
    const owner = await cluster.startNode(options);
    const ids = { single: await longSession(single), owner: await longSession(owner) };
    return {
      single: () => woken(single, ids.single),
      owner: async () => {
        await released(cluster, ids.owner);
        return woken(owner, ids.owner);
      },
      other: async () => {
        const other = await cluster.startNode(options);
        // The first agent of a node takes longer.
        await woken(other);
        await released(cluster, ids.owner);
        const sample = await woken(other, ids.owner);
        await released(cluster, ids.owner);
        await other.stop();
        return sample;
      },
    };
  },

  rows({ single, owner, other }) {
    const row = (what, value, ratio) => ({ what, unit: 'ms', value, reference: single.ms, limit: { ratio } });
    return [
      row('2,000 entries, on the node that had them', owner.ms, 1.2),
      row('2,000 entries, on a node that never had them', other.ms, 2),
    ];
  },
});

async function longSession(server) {
  const client = await server.connect();
  const settled = client.until('"type":"agent_settled"');
  client.send({ type: 'prompt', message: 'go' });
  await settled;
  client.close();
  await agentsEnded(server);
  return client.sessionId;
}

/** The time until a client has the session, whose agent is not running. */
async function woken(server, session) {
  const begun = performance.now();
  const client = await server.connect(session === undefined ? {} : { session });
  const ms = performance.now() - begun;
  client.close();
  await agentsEnded(server);
  return { ms };
}

/** Waits until a server has no agent. */
async function agentsEnded({ pid }) {
  while (childrenOf(pid).some(isAgent)) await sleep(POLL_MS);
}

const childrenOf = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');

function isAgent(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--script');
  } catch {
    return false;
  }
}

/** Waits until no node owns a session. */
async function released({ nats }, session) {
  const manager = await jetstreamManager(await nats.connection(), { checkAPI: false });
  for (;;) {
    const last = await manager.streams.getMessage('TAU', { last_by_subj: `tau.log.*.${session}` });
    if (last?.header.get('Tau-Kind') === 'release') return;
    await sleep(POLL_MS);
  }
}

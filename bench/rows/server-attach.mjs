import { withServer } from '../support/server.mjs';
import { streamScript } from '../support/stream.mjs';

/** Attaches a client to a live session that has messages. */
export const serverAttach = {
  name: 'server-attach',
  rounds: 15,

  samplers(workspace) {
    const script = workspace.file('attach.jsonl', streamScript(200));
    return { live: () => withServer(workspace, { script }, attached) };
  },

  rows({ live }) {
    return [
      { what: 'to a live session, connect to state_synced', unit: 'ms', value: live.ms, limit: { value: 30 } },
      { what: 'to a new session, with the start of its agent', unit: 'ms', value: live.newMs },
    ];
  },
};

async function attached({ connect }) {
  const begun = performance.now();
  const first = await connect();
  const newMs = performance.now() - begun;
  const settled = first.until('"type":"agent_settled"');
  first.send({ type: 'prompt', message: 'go' });
  await settled;
  const before = performance.now();
  const second = await connect({ session: first.sessionId });
  const ms = performance.now() - before;
  for (const client of [first, second]) client.close();
  return { ms, newMs };
}

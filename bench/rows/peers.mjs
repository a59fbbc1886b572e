import { withLocalModel } from '../support/local-model.mjs';
import { cpuMicros, residentMb } from '../support/process-stats.mjs';

const TURNS = 20;
const COLD = 5;
const GET_STATE = { id: 1, type: 'get_state' };

/** Start and tool turns of another program. Reference: tau on the same Node, with the scripted model in its process. */
export const peerRows = (peer) => ({
  name: peer.label,
  rounds: 5,

  samplers(workspace) {
    const call = '{"toolCall":{"name":"bash","arguments":{"command":"true"}}}';
    const script = workspace.file('peer-turn.jsonl', `${call}\n{"text":"ok"}\n{"repeat":true}\n`);
    const { node, program } = peer;
    return {
      peer: () => workspace.program(program, ['--mode', 'rpc', '--no-session'], { use: started, node }),
      tau: () => workspace.agent(['--no-session'], started, { node }),
      peerTurns: () =>
        withLocalModel(workspace, () =>
          workspace.program(program, ['--mode', 'rpc', '--no-session', '--model', 'bench/turn'], { use: turns, node }),
        ),
      tauTurns: () => workspace.agent(['--no-session', '--script', script], turns, { node }),
    };
  },

  rows({ peer: theirs, tau, peerTurns, tauTurns }) {
    const row = (what, unit, value, reference) => ({ what, unit, value, reference });
    return [
      row('spawn to get_state', 'ms', theirs.ms, tau.ms),
      row('CPU until get_state', 'ms', theirs.cpu, tau.cpu),
      row('resident at get_state', 'MB', theirs.mb, tau.mb),
      row('turn with `bash true`, prompt to agent_end', 'ms', peerTurns.ms, tauTurns.ms),
      row('turn with `bash true`, CPU', 'ms', peerTurns.cpu, tauTurns.cpu),
    ];
  },
});

async function started(child) {
  const at = await child.request(GET_STATE);
  return { ms: at - child.startedAt, cpu: cpuMicros(child.pid) / 1000, mb: residentMb(child.pid) };
}

async function turns(child) {
  await child.request(GET_STATE);
  const turn = async (id) => {
    const ended = child.until('{"type":"agent_end"');
    const sent = performance.now();
    child.send({ id, type: 'prompt', message: 'go' });
    const ms = (await ended) - sent;
    // Completes the work after `agent_end` before the next prompt.
    await child.request({ id: `after ${id}`, type: 'get_state' });
    return ms;
  };
  for (let id = 0; id < COLD; id++) await turn(`cold ${id}`);
  const before = cpuMicros(child.pid);
  let ms = 0;
  for (let id = 0; id < TURNS; id++) ms += await turn(`warm ${id}`);
  return { ms: ms / TURNS, cpu: (cpuMicros(child.pid) - before) / 1000 / TURNS };
}

import { withLocalModel } from '../support/local-model.mjs';
import { cpuMicros, residentMb } from '../support/process-facts.mjs';

const TURNS = 20;
const COLD = 5;
const GET_STATE = { id: 1, type: 'get_state' };

/** The same of another program. Reference: tau on the same Node; its model is the scripted one, in the process. */
export const peerRows = (peer) => ({
  name: peer.label,
  rounds: 5,

  samplers(place) {
    const call = '{"toolCall":{"name":"bash","arguments":{"command":"true"}}}';
    const script = place.file('peer-turn.jsonl', `${call}\n{"text":"ok"}\n{"repeat":true}\n`);
    const { node, program } = peer;
    return {
      peer: () => place.program(program, ['--mode', 'rpc', '--no-session'], { use: started, node }),
      tau: () => place.agent(['--no-session'], started, { node }),
      peerTurns: () =>
        withLocalModel(place, () =>
          place.program(program, ['--mode', 'rpc', '--no-session', '--model', 'bench/turn'], { use: turns, node }),
        ),
      tauTurns: () => place.agent(['--no-session', '--script', script], turns, { node }),
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
  const at = await child.ask(GET_STATE);
  return { ms: at - child.startedAt, cpu: cpuMicros(child.pid) / 1000, mb: residentMb(child.pid) };
}

async function turns(child) {
  await child.ask(GET_STATE);
  const turn = async (id) => {
    const ended = child.until('{"type":"agent_end"');
    const sent = performance.now();
    child.send({ id, type: 'prompt', message: 'go' });
    const ms = (await ended) - sent;
    // What is left to do after `agent_end` is done before the next prompt.
    await child.ask({ id: `after ${id}`, type: 'get_state' });
    return ms;
  };
  for (let id = 0; id < COLD; id++) await turn(`cold ${id}`);
  const before = cpuMicros(child.pid);
  let ms = 0;
  for (let id = 0; id < TURNS; id++) ms += await turn(`warm ${id}`);
  return { ms: ms / TURNS, cpu: (cpuMicros(child.pid) - before) / 1000 / TURNS };
}

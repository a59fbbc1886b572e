import { closeSync, openSync } from 'node:fs';
import { cpuMicros } from '../support/process-stats.mjs';

const GET_STATE = { id: 1, type: 'get_state' };
const HELLO = `process.stdout.write('x\\n'); process.stdin.resume()`;

/** From spawn to the first response. */
export const start = {
  name: 'start',
  rounds: 25,

  samplers(workspace) {
    const commands = workspace.file('get-state.jsonl', `${JSON.stringify(GET_STATE)}\n`);
    const printed = async (child) => elapsed(child, await child.until('x'));
    const getState = async (child) => elapsed(child, await child.request(GET_STATE));
    const getStateWhenReady = async (child) => {
      await child.until('{"type":"ready"');
      return getState(child);
    };
    const firstResponse = async (child) => ({ ms: (await child.until('{"id":1,')) - child.startedAt });
    return {
      node: () => workspace.node(HELLO, printed),
      memory: () => workspace.agent(['--no-session'], getState),
      disk: () => workspace.agent([], getState),
      polite: () => workspace.agent(['--no-session'], getStateWhenReady),
      file: () => withFile(commands, (stdin) => workspace.agent(['--no-session'], firstResponse, { stdin })),
    };
  },

  rows({ node, memory, disk, polite, file }) {
    const row = (what, { ms }) => ({ what, unit: 'ms', value: ms, reference: node.ms, limit: { ratio: 1.6 } });
    return [
      row('get_state without a session', memory),
      row('get_state with a session on disk', disk),
      row('get_state sent after `ready`', polite),
      row('get_state in a file that is stdin', file),
      { what: 'CPU until get_state without a session', unit: 'ms', value: memory.cpu, reference: node.cpu },
    ];
  },
};

const elapsed = (child, at) => ({ ms: at - child.startedAt, cpu: cpuMicros(child.pid) / 1000 });

async function withFile(path, use) {
  const fd = openSync(path, 'r');
  try {
    return await use(fd);
  } finally {
    closeSync(fd);
  }
}

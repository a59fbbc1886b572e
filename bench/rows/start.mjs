import { closeSync, openSync } from 'node:fs';
import { cpuMicros } from '../support/process-facts.mjs';

const GET_STATE = { id: 1, type: 'get_state' };
const HELLO = `process.stdout.write('x\\n'); process.stdin.resume()`;

/** From spawn to the first answer. */
export const start = {
  name: 'start',
  rounds: 25,

  samplers(place) {
    const commands = place.file('get-state.jsonl', `${JSON.stringify(GET_STATE)}\n`);
    const printed = async (child) => elapsed(child, await child.until('x'));
    const asked = async (child) => elapsed(child, await child.ask(GET_STATE));
    const askedWhenReady = async (child) => {
      await child.until('{"type":"ready"');
      return asked(child);
    };
    const answered = async (child) => ({ ms: (await child.until('{"id":1,')) - child.startedAt });
    return {
      node: () => place.node(HELLO, printed),
      memory: () => place.agent(['--no-session'], asked),
      disk: () => place.agent([], asked),
      polite: () => place.agent(['--no-session'], askedWhenReady),
      file: () => withFile(commands, (stdin) => place.agent(['--no-session'], answered, { stdin })),
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

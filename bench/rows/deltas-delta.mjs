import { plainStream, streamed, streamScript } from '../support/stream.mjs';

const DELTAS = 40_000;

/** A fast response in delta form: the cost per delta, and that it grows linearly. */
export const deltasDelta = {
  name: 'deltas-delta',
  rounds: 9,

  samplers(workspace) {
    const once = workspace.file('once.jsonl', streamScript(DELTAS));
    const twice = workspace.file('twice.jsonl', streamScript(2 * DELTAS));
    const agent = (script) => workspace.agent(['--no-session', '--stream', 'delta', '--script', script], streamed);
    return {
      node: () => workspace.node(plainStream(DELTAS), streamed),
      once: () => agent(once),
      twice: () => agent(twice),
    };
  },

  rows({ node, once, twice }) {
    const perDelta = (key) => ({ value: once[key] / DELTAS, reference: node[key] / DELTAS });
    const twofold = (key) => ({ unit: '×', value: twice[key] / once[key], limit: { value: 2.2 } });
    return [
      { what: 'CPU per delta', unit: 'µs', ...perDelta('cpu'), limit: { value: 8 } },
      { what: 'CPU per delta of the second 40,000', unit: 'µs', value: (twice.cpu - once.cpu) / DELTAS },
      { what: 'bytes on the wire per delta', unit: 'B', ...perDelta('bytes'), limit: { value: 130 } },
      { what: 'CPU of 80,000 over 40,000', ...twofold('cpu') },
      { what: 'bytes of 80,000 over 40,000', ...twofold('bytes') },
    ];
  },
};

import { DELTA, plainStream, streamed, streamScript } from '../support/stream.mjs';

const DELTAS = 40_000;
const TEXT = DELTAS * DELTA.length;

/** The same response in cumulative form, in which every update repeats the text so far. */
export const deltasCumulative = {
  name: 'deltas-cumulative',
  rounds: 9,

  samplers(workspace) {
    const script = workspace.file('once.jsonl', streamScript(DELTAS));
    return {
      node: () => workspace.node(plainStream(DELTAS), streamed),
      tau: () => workspace.agent(['--no-session', '--stream', 'cumulative', '--script', script], streamed),
    };
  },

  rows({ node, tau }) {
    return [
      {
        what: 'bytes on the wire over the text',
        unit: '×',
        value: tau.bytes / TEXT,
        reference: node.bytes / TEXT,
        limit: { value: 40 },
      },
      { what: 'CPU per delta', unit: 'µs', value: tau.cpu / DELTAS, reference: node.cpu / DELTAS },
    ];
  },
};

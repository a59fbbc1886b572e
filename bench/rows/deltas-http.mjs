import { overHttp } from '../support/over-http.mjs';
import { streamed } from '../support/stream.mjs';

const DELTAS = 40_000;

/** A fast response of a model behind HTTP: the cost per delta from the model to the client. */
export const deltasHttp = {
  name: 'deltas-http',
  rounds: 9,

  samplers: (workspace) => overHttp(workspace, 'many', streamed),

  rows({ tau, node }) {
    const perDelta = (key) => ({ value: tau[key] / DELTAS, reference: node[key] / DELTAS });
    return [
      { what: 'CPU per delta', unit: 'µs', ...perDelta('cpu'), limit: { value: 15 } },
      { what: 'peak memory over before', unit: 'MB', value: tau.growthMb, reference: node.growthMb },
    ];
  },
};

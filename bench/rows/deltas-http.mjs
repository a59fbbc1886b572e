import { overHttp } from '../support/over-http.mjs';
import { streamed } from '../support/stream.mjs';

const DELTAS = 40_000;

/** A fast answer from a model behind HTTP: what a delta costs on its whole way. */
export const deltasHttp = {
  name: 'deltas-http',
  rounds: 9,

  samplers: (place) => overHttp(place, 'many', streamed),

  rows({ tau, node }) {
    const perDelta = (key) => ({ value: tau[key] / DELTAS, reference: node[key] / DELTAS });
    return [
      { what: 'CPU per delta', unit: 'µs', ...perDelta('cpu'), limit: { value: 15 } },
      { what: 'peak memory over before', unit: 'MB', value: tau.growthMb, reference: node.growthMb },
    ];
  },
};

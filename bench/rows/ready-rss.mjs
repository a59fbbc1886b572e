import { residentMb } from '../support/process-facts.mjs';

/** Memory at the first answer. */
export const readyRss = {
  name: 'ready-rss',
  rounds: 9,

  samplers(place) {
    const answered = async (child) => {
      await child.ask({ id: 1, type: 'get_state' });
      return { mb: residentMb(child.pid) };
    };
    const printed = async (child) => {
      await child.until('x');
      return { mb: residentMb(child.pid) };
    };
    return {
      node: () => place.node(`process.stdout.write('x\\n'); process.stdin.resume()`, printed),
      memory: () => place.agent(['--no-session'], answered),
      disk: () => place.agent([], answered),
    };
  },

  rows({ node, memory, disk }) {
    const row = (what, { mb }) => ({ what, unit: 'MB', value: mb, reference: node.mb, limit: { value: 55 } });
    return [row('resident without a session', memory), row('resident with a session on disk', disk)];
  },
};

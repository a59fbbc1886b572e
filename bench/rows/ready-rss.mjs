import { residentMb } from '../support/process-stats.mjs';

/** Resident memory at the first response. */
export const readyRss = {
  name: 'ready-rss',
  rounds: 9,

  samplers(workspace) {
    const getState = async (child) => {
      await child.request({ id: 1, type: 'get_state' });
      return { mb: residentMb(child.pid) };
    };
    const printed = async (child) => {
      await child.until('x');
      return { mb: residentMb(child.pid) };
    };
    return {
      node: () => workspace.node(`process.stdout.write('x\\n'); process.stdin.resume()`, printed),
      memory: () => workspace.agent(['--no-session'], getState),
      disk: () => workspace.agent([], getState),
    };
  },

  rows({ node, memory, disk }) {
    const row = (what, { mb }) => ({ what, unit: 'MB', value: mb, reference: node.mb, limit: { value: 55 } });
    return [row('resident without a session', memory), row('resident with a session on disk', disk)];
  },
};

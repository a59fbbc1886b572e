import { promptInTurn } from '../../support/agents-in-turn.mjs';
import { callScript } from '../../support/call-script.mjs';

const TURNS = 200;

/** A command in the sandbox, compared with one without. */
export const approvalsSandbox = {
  name: 'approvals-sandbox',
  rounds: 5,

  samplers(workspace) {
    const script = callScript(workspace, 'approvals-sandbox', { tool: 'bash', args: { command: 'true' } });
    const agents = {
      off: { args: ['--script', script] },
      on: { args: ['--approvals', 'auto', '--sandbox', 'required', '--script', script] },
    };
    return { turns: () => promptInTurn(workspace, agents, TURNS) };
  },

  rows({ turns }) {
    const row = (what, kind, over) => ({
      what: `\`bash true\`, ${what}`,
      unit: 'ms',
      value: turns[`on ${kind}`],
      reference: turns[`off ${kind}`],
      ...(over === undefined ? {} : { limit: { over } }),
    });
    return [row('median', 'median', 8), row('p95', 'p95', 15), row('CPU of tau', 'cpu')];
  },
};

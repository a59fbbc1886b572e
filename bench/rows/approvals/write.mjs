import { promptInTurn } from '../../support/agents-in-turn.mjs';
import { callScript } from '../../support/call-script.mjs';

const TURNS = 200;

/** A write of 1 KB with the path policy, compared with one without. */
export const approvalsWrite = {
  name: 'approvals-write',
  rounds: 5,

  samplers(workspace) {
    const script = (name) => {
      const args = { path: `${name}.txt`, content: 'x'.repeat(1024) };
      return ['--script', callScript(workspace, `approvals-write-${name}`, { tool: 'write', args })];
    };
    const agents = {
      free: { args: script('free') },
      guarded: { args: ['--approvals', 'edit', '--sandbox', 'external', ...script('guarded')] },
    };
    return { turns: () => promptInTurn(workspace, agents, TURNS) };
  },

  rows({ turns }) {
    const row = (what, kind) => ({
      what,
      unit: 'ms',
      value: turns[`guarded ${kind}`],
      reference: turns[`free ${kind}`],
    });
    return [
      { ...row('turn with a write of 1 KB, median', 'median'), limit: { over: 0.1 } },
      row('turn with a write of 1 KB, CPU of tau', 'cpu'),
    ];
  },
};

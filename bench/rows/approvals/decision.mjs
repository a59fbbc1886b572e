import { promptInTurn } from '../../support/agents-in-turn.mjs';
import { callScript, settingsFolder } from '../../support/call-script.mjs';

const TURNS = 200;
const RULES = 50;
const COMMAND = `true ${'a'.repeat(75)}`;

/** A decision that asks nobody about a command: by the mode, after 50 rules. */
export const approvalsDecision = {
  name: 'approvals-decision',
  rounds: 5,

  samplers(workspace) {
    const script = callScript(workspace, 'approvals-decision', { tool: 'bash', args: { command: COMMAND } });
    const allow = Array.from({ length: RULES }, (_, index) => `bash(program${index} run *)`);
    const env = settingsFolder(workspace, 'rules', { approvals: { allow } });
    const agents = {
      none: { args: ['--script', script] },
      // Decides as with a sandbox, and wraps nothing.
      decided: { args: ['--approvals', 'auto', '--sandbox', 'external', '--script', script], env },
    };
    return { turns: () => promptInTurn(workspace, agents, TURNS) };
  },

  rows({ turns }) {
    const row = (what, kind) => ({
      what,
      unit: 'ms',
      value: turns[`decided ${kind}`],
      reference: turns[`none ${kind}`],
    });
    return [
      { ...row('turn with a command, 50 rules, median', 'median'), limit: { over: 0.2 } },
      row('turn with a command, 50 rules, CPU of tau', 'cpu'),
    ];
  },
};

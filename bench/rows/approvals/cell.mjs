import { prompt } from '../../support/agents-in-turn.mjs';
import { callScript } from '../../support/call-script.mjs';
import { descendants } from '../../support/descendants.mjs';
import { residentMb } from '../../support/process-stats.mjs';

const PROGRAMS = ['bwrap', 'cat'];

/** The processes that keep the namespaces of a session. */
export const approvalsCell = {
  name: 'approvals-cell',
  rounds: 3,

  samplers(workspace) {
    const script = callScript(workspace, 'approvals-cell', { tool: 'bash', args: { command: 'true' } });
    const args = ['--no-session', '--approvals', 'auto', '--sandbox', 'required', '--script', script];
    return { cell: () => workspace.agent(args, cell) };
  },

  rows({ cell: { mb, count } }) {
    return [
      { what: 'memory of the processes of a session', unit: 'MB', value: mb, limit: { value: 6 } },
      { what: 'their number', unit: '', value: count, limit: { value: 3 } },
    ];
  },
};

async function cell(child) {
  await prompt(child);
  const pids = descendants(child.pid)
    .filter(({ program }) => PROGRAMS.includes(program))
    .map(({ pid }) => pid);
  return { mb: pids.reduce((sum, pid) => sum + residentMb(pid), 0), count: pids.length };
}

import { prompt } from '../../support/agents-in-turn.mjs';
import { settingsFolder } from '../../support/call-script.mjs';

const READ = '{"toolCall":{"name":"read","arguments":{"path":"first.txt"}}}';
const BASH = '{"toolCall":{"name":"bash","arguments":{"command":"true"}}}';
const CONFINED = ['--approvals', 'auto', '--sandbox', 'required'];

/** The first command of a session, which makes the sandbox, and its proxy where hosts are decided about. */
export const approvalsFirst = {
  name: 'approvals-first',
  rounds: 15,

  samplers(workspace) {
    workspace.file('project/first.txt', 'a line\n');
    const script = workspace.file(
      'approvals-first.jsonl',
      [READ, '{"text":"ok"}', BASH, '{"text":"ok"}', ''].join('\n'),
    );
    const closed = settingsFolder(workspace, 'closed', { sandbox: { network: 'none' } });
    const agent = (args, env) => () =>
      workspace.agent(['--no-session', ...args, '--script', script], firstCommand, { env });
    return { off: agent([]), closed: agent(CONFINED, closed), asking: agent(CONFINED) };
  },

  rows({ off, closed, asking }) {
    const row = (what, { ms }, over) => ({ what, unit: 'ms', value: ms, reference: off.ms, limit: { over } });
    return [
      row('first `bash true`, no network', closed, 20),
      row('first `bash true`, hosts are decided about', asking, 90),
    ];
  },
};

/** The turn before it calls another tool, so that only the command is new. */
async function firstCommand(child) {
  await child.request({ id: 1, type: 'get_state' });
  await prompt(child);
  return { ms: await prompt(child) };
}

import { readdirSync, readFileSync } from 'node:fs';
import { prompt } from '../../support/agents-in-turn.mjs';
import { callScript } from '../../support/call-script.mjs';
import { descendants, zombies } from '../../support/descendants.mjs';

const PROMPTS = 250;
const CALLS = 4;

/** Processes, descriptors and mounts after 1,000 confined commands. */
export const approvalsMany = {
  name: 'approvals-many',
  rounds: 1,
  warmUpRounds: 0,

  samplers(workspace) {
    const script = callScript(workspace, 'approvals-many', { tool: 'bash', args: { command: 'true' }, times: CALLS });
    const args = [
      '--no-session',
      '--stream',
      'delta',
      '--approvals',
      'auto',
      '--sandbox',
      'required',
      '--script',
      script,
    ];
    return { session: () => workspace.agent(args, manyCommands) };
  },

  rows({ session }) {
    const row = (name) => ({
      what: `${name} that 1,000 commands leave, over those after four`,
      unit: '',
      value: session[`${name} after`] - session[`${name} before`],
      limit: { value: 0 },
    });
    return [row('processes'), row('zombies'), row('descriptors'), row('mounts')];
  },
};

async function manyCommands(child) {
  await prompt(child);
  const before = counts(child, 'before');
  for (let count = 1; count < PROMPTS; count++) await prompt(child);
  // Completes the work after `agent_settled`.
  await child.request({ id: 'after', type: 'get_state' });
  return { ...before, ...counts(child, 'after') };
}

const counts = ({ pid }, when) => ({
  [`processes ${when}`]: descendants(pid).length,
  [`zombies ${when}`]: zombies(),
  [`descriptors ${when}`]: readdirSync(`/proc/${pid}/fd`).length,
  [`mounts ${when}`]: readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n').length - 1,
});

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { callScript } from '../../support/call-script.mjs';

const POLL_MS = 5;

/** The arguments of a `sleep` that nothing else runs. */
const MARK = '1000.20261119';

/** Two descendants left the session of the command, one of them has no parent; one runs in the background. */
const command = (ready) =>
  `env -i setsid sleep ${MARK} & (env -i setsid sleep ${MARK} &); sleep ${MARK} & touch ${ready}; sleep ${MARK}`;

/** An abort of a confined command whose descendants have left its group and cleared their environment. */
export const approvalsAbort = {
  name: 'approvals-abort',
  rounds: 9,

  samplers(workspace) {
    const ready = workspace.path('project/ready');
    const script = (name, text) => [
      ...['--no-session', '--script'],
      callScript(workspace, `approvals-abort-${name}`, { tool: 'bash', args: { command: text } }),
    ];
    const confined = ['--approvals', 'auto', '--sandbox', 'required'];
    return {
      plain: () => workspace.agent(script('plain', `touch ${ready}; exec sleep 1000`), aborted(ready)),
      confined: () => workspace.agent([...confined, ...script('confined', command(ready))], aborted(ready)),
    };
  },

  rows({ plain, confined }) {
    return [
      { what: 'abort to its response', unit: 'ms', value: confined.ms, reference: plain.ms, limit: { value: 150 } },
      { what: 'processes that are left then', unit: '', value: confined.left, limit: { value: 0 } },
    ];
  },
};

const aborted = (ready) => async (child) => {
  rmSync(ready, { force: true });
  await child.request({ id: 1, type: 'get_state' });
  child.send({ id: 2, type: 'prompt', message: 'go' });
  while (!existsSync(ready)) await sleep(POLL_MS);
  const sent = performance.now();
  const ms = (await child.request({ id: 3, type: 'abort' })) - sent;
  return { ms, left: marked() };
};

const marked = () =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLineOf(name).includes(`sleep\0${MARK}`)).length;

function commandLineOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

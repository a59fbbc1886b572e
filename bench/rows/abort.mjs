import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 5;

/** Variable in the environment of all descendants of the command, by which leftovers are counted. */
const TRACE = 'TAU_BENCH_ABORT';

/** All descendants ignore SIGTERM; one holds the output, one has its own process session, one has no parent. */
const command = (ready) => `
export ${TRACE}=1
trap '' TERM
stubborn() { trap '' TERM; while :; do sleep 1; done; }
stubborn &
setsid bash -c "trap '' TERM; while :; do sleep 1; done" > /dev/null 2>&1 &
( setsid bash -c "trap '' TERM; while :; do sleep 1; done" & )
( ( stubborn ) & )
touch ${ready}
wait`;

/** An abort of a command whose descendants ignore SIGTERM. */
export const abort = {
  name: 'abort',
  rounds: 9,

  samplers(workspace) {
    const ready = workspace.path('ready');
    const script = (name, text) => {
      const call = { toolCall: { name: 'bash', arguments: { command: text } } };
      return workspace.file(`abort-${name}.jsonl`, `${JSON.stringify(call)}\n`);
    };
    const agent = (path) => () => workspace.agent(['--no-session', '--script', path], aborted(ready));
    return {
      plain: agent(script('plain', `touch ${ready}; exec sleep 1000`)),
      nasty: agent(script('nasty', command(ready))),
    };
  },

  rows({ plain, nasty }) {
    return [
      { what: 'abort to agent_settled', unit: 'ms', value: nasty.ms, reference: plain.ms, limit: { value: 300 } },
      { what: 'processes that are left', unit: '', value: nasty.left, limit: { value: 0 } },
    ];
  },
};

const aborted = (ready) => async (child) => {
  rmSync(ready, { force: true });
  await child.request({ id: 1, type: 'get_state' });
  const settled = child.until('{"type":"agent_settled"');
  child.send({ id: 2, type: 'prompt', message: 'go' });
  while (!existsSync(ready)) await sleep(POLL_MS);
  const sent = performance.now();
  child.send({ id: 3, type: 'abort' });
  const ms = (await settled) - sent;
  return { ms, left: traced() };
};

/** Number of running descendants of the command. */
const traced = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).includes(`${TRACE}=1`)).length;

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

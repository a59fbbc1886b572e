import { median, percentile } from './median.mjs';
import { cpuMicros } from './process-stats.mjs';

const COLD = 10;

/**
 * Opens agents at once, calls the prompt of each in turn and returns the times of the prompts and the CPU time of the
 * agents, in ms. `agents`: the arguments after `--mode rpc` by name, with `program` where it is another build.
 */
export function promptInTurn(workspace, agents, count) {
  const names = Object.keys(agents);
  const open = (children) => {
    const { length } = Object.keys(children);
    if (length === names.length) return takeTurns(children, count);
    const name = names[length];
    return openAgent(workspace, agents[name], (child) => open({ ...children, [name]: child }));
  };
  return open({});
}

function openAgent(workspace, { args, env, program }, use) {
  const all = ['--no-session', '--stream', 'delta', ...args];
  if (program === undefined) return workspace.agent(all, use, { env });
  return workspace.program(program, ['--mode', 'rpc', ...all], { use });
}

async function takeTurns(children, count) {
  const entries = Object.entries(children);
  const times = Object.fromEntries(entries.map(([name]) => [name, []]));
  const cpu = () => Object.fromEntries(entries.map(([name, { pid }]) => [name, cpuMicros(pid) / 1000]));
  for (let round = 0; round < COLD; round++) for (const [, child] of entries) await prompt(child);
  const before = cpu();
  for (let round = 0; round < count; round++) {
    for (const [name, child] of round % 2 ? entries.toReversed() : entries) times[name].push(await prompt(child));
  }
  const after = cpu();
  return Object.fromEntries(
    entries.flatMap(([name]) => [
      [`${name} median`, median(times[name])],
      [`${name} p95`, percentile(times[name], 0.95)],
      [`${name} cpu`, (after[name] - before[name]) / count],
    ]),
  );
}

/** The time of a prompt until `agent_settled`, in ms. */
export async function prompt(child) {
  const settled = child.until('{"type":"agent_settled"');
  const sent = performance.now();
  child.send({ id: 'prompt', type: 'prompt', message: 'go' });
  return (await settled) - sent;
}

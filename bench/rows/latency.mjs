import { withLocalModel } from '../support/local-model.mjs';
import { writeLongSession } from '../support/long-session.mjs';
import { median, percentile } from '../support/median.mjs';

const MESSAGES = 200;
const SAMPLES = 60;
const COLD = 10;
const ABORT_AFTER_MS = 10;

/**
 * Response to `get_state`, first token and end after an abort, in a session on disk. All programs run at once and take
 * turns, one sample each.
 */
export const latency = (peers) => ({
  name: 'latency',
  rounds: 5,

  samplers(workspace) {
    const file = (name) => {
      const path = workspace.path(`latency-${name.replaceAll(' ', '-')}.jsonl`);
      writeLongSession(path, { cwd: workspace.path('project'), messages: MESSAGES });
      return path;
    };
    const args = (name) => ['--session', file(name), '--model', 'bench/paced'];
    const tau = { name: 'tau', open: (use) => workspace.agent(args('tau'), use) };
    const others = peers.map(({ label, program, node }) => ({
      name: label,
      open: (use) => workspace.program(program, ['--mode', 'rpc', ...args(label)], { use, node }),
    }));
    return { all: () => withLocalModel(workspace, (server) => openAll([tau, ...others], [], server)) };
  },

  rows({ all }) {
    const labels = peers.length === 0 ? [undefined] : peers.map(({ label }) => label);
    return labels.flatMap((label) =>
      [STATE, TOKEN, ABORT].flatMap((what) =>
        ['median', 'p95'].map((kind) => ({
          what: `${what}, ${kind}${label ? `; reference: ${label}` : ''}`,
          unit: 'ms',
          value: all[`tau ${what} ${kind}`],
          ...(label ? { reference: all[`${label} ${what} ${kind}`] } : {}),
        })),
      ),
    );
  },
});

const STATE = 'warm `get_state`';
const TOKEN = 'first token to the client';
const ABORT = '`abort` to agent_end';

/** Opens the programs one inside the other, and measures when all are open. */
function openAll([first, ...rest], children, server) {
  if (!first) return measureAll(children, server);
  return first.open((child) => openAll(rest, [...children, { name: first.name, child, count: 0 }], server));
}

async function measureAll(programs, server) {
  const sample = {};
  for (const [what, measure, model] of [
    [STATE, timeState, 'paced'],
    [TOKEN, timeFirstToken, 'paced'],
    [ABORT, timeAbort, 'endless'],
  ]) {
    for (const program of programs) await request(program, { type: 'set_model', provider: 'bench', modelId: model });
    const times = await takeTurns(programs, (program) => measure(program, server));
    for (const { name } of programs) {
      sample[`${name} ${what} median`] = median(times[name]);
      sample[`${name} ${what} p95`] = percentile(times[name], 0.95);
    }
  }
  return sample;
}

async function takeTurns(programs, measure) {
  const times = Object.fromEntries(programs.map(({ name }) => [name, []]));
  for (let round = -COLD; round < SAMPLES; round++) {
    for (const program of programs) {
      const ms = await measure(program);
      if (round >= 0) times[program.name].push(ms);
    }
  }
  return times;
}

async function timeState(program) {
  const sent = performance.now();
  return (await request(program, { type: 'get_state' })) - sent;
}

async function timeFirstToken(program, { writtenAt }) {
  const { child } = program;
  const received = child.until('{"type":"message_update"', '"text_delta"');
  const ended = child.until('{"type":"agent_end"');
  child.send({ id: nextId(program), type: 'prompt', message: 'go' });
  const at = await received;
  await ended;
  await request(program, { type: 'get_state' });
  const [written] = await writtenAt();
  return at - written;
}

async function timeAbort(program) {
  const { child } = program;
  const streaming = child.until('{"type":"message_update"', '"text_delta"');
  child.send({ id: nextId(program), type: 'prompt', message: 'go' });
  await streaming;
  await new Promise((resolve) => setTimeout(resolve, ABORT_AFTER_MS));
  const ended = child.until('{"type":"agent_end"');
  const sent = performance.now();
  const responded = request(program, { type: 'abort' });
  const at = await ended;
  await responded;
  return at - sent;
}

const request = (program, command) => program.child.request({ id: nextId(program), ...command });

const nextId = (program) => `${program.count++}`;

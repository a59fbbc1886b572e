import { cpuMicros } from '../support/process-stats.mjs';

const TURNS = 100;
const COLD = 20;

/** Code for a plain Node process that does some work per line and responds afterwards. */
const plain = (work) => `
const { spawn } = require('node:child_process');
const { readFile } = require('node:fs');
process.stdin.on('data', () => (${work})(() => process.stdout.write('{"type":"agent_settled"}\\n')));`;

const SPAWN = `(done) => spawn('/bin/bash', ['-c', 'true'], { stdio: 'ignore' }).on('exit', done)`;
const READ = `(done) => readFile('notes.txt', done)`;

/** A turn with one tool call: the cost of tau itself, without the tool's own process. */
export const toolTurn = {
  name: 'tool-turn',
  rounds: 5,

  samplers(workspace) {
    workspace.file('project/notes.txt', 'a line of the notes\n'.repeat(50));
    const agent = (name, args) => {
      const call = JSON.stringify({ toolCall: { name, arguments: args } });
      const script = workspace.file(`${name}-turn.jsonl`, `${call}\n{"text":"ok"}\n{"repeat":true}\n`);
      return () => workspace.agent(['--no-session', '--stream', 'delta', '--script', script], turns);
    };
    return {
      bash: agent('bash', { command: 'true' }),
      read: agent('read', { path: 'notes.txt' }),
      nodeBash: () => workspace.node(plain(SPAWN), turns),
      nodeRead: () => workspace.node(plain(READ), turns),
    };
  },

  rows({ bash, read, nodeBash, nodeRead }) {
    const row = (what, value, reference) => ({ what, unit: 'ms', value, reference });
    return [
      { ...row('`bash true`, CPU beside the command', bash.cpu, nodeBash.cpu), limit: { value: 5 } },
      row('`bash true`, prompt to agent_settled', bash.ms, nodeBash.ms),
      { ...row('`read`, CPU', read.cpu, nodeRead.cpu), limit: { value: 3 } },
      row('`read`, prompt to agent_settled', read.ms, nodeRead.ms),
    ];
  },
};

/** The mean of many turns after a warm-up. */
async function turns(child) {
  const turn = async (id) => {
    const settled = child.until('{"type":"agent_settled"');
    child.send({ id, type: 'prompt', message: 'go' });
    await settled;
  };
  for (let id = 0; id < COLD; id++) await turn(id);
  const before = { cpu: cpuMicros(child.pid), at: performance.now() };
  for (let id = COLD; id < COLD + TURNS; id++) await turn(id);
  return {
    cpu: (cpuMicros(child.pid) - before.cpu) / 1000 / TURNS,
    ms: (performance.now() - before.at) / TURNS,
  };
}

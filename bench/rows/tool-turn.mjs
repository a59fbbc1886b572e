import { cpuMicros } from '../support/process-facts.mjs';

const TURNS = 100;
const COLD = 20;

/** Code for a bare node that does something per line, and answers when it is done. */
const plain = (work) => `
const { spawn } = require('node:child_process');
const { readFile } = require('node:fs');
process.stdin.on('data', () => (${work})(() => process.stdout.write('{"type":"agent_settled"}\\n')));`;

const SPAWN = `(done) => spawn('/bin/bash', ['-c', 'true'], { stdio: 'ignore' }).on('exit', done)`;
const READ = `(done) => readFile('notes.txt', done)`;

/** A prompt whose answer calls one tool: what it costs tau itself, whatever the tool's own process takes. */
export const toolTurn = {
  name: 'tool-turn',
  rounds: 5,

  samplers(place) {
    place.file('project/notes.txt', 'a line of the notes\n'.repeat(50));
    const agent = (name, args) => {
      const call = JSON.stringify({ toolCall: { name, arguments: args } });
      const script = place.file(`${name}-turn.jsonl`, `${call}\n{"text":"ok"}\n{"repeat":true}\n`);
      return () => place.agent(['--no-session', '--stream', 'delta', '--script', script], turns);
    };
    return {
      bash: agent('bash', { command: 'true' }),
      read: agent('read', { path: 'notes.txt' }),
      nodeBash: () => place.node(plain(SPAWN), turns),
      nodeRead: () => place.node(plain(READ), turns),
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

/** The mean of many turns, after some that warm the process up. */
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

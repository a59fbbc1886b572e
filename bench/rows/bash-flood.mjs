import { peakMb, residentMb } from '../support/process-stats.mjs';

const BYTES = 50_000_000;
const commands = {
  yes: `yes | head -c ${BYTES}`,
  line: `head -c ${BYTES} /dev/zero | tr '\\0' x`,
};

/** Code for a plain Node process that runs the command and reads its output. */
const plain = (command) => `
const { spawn } = require('node:child_process');
process.stdin.on('data', () => {
  const child = spawn('/bin/bash', ['-c', ${JSON.stringify(command)}], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume().on('end', () => process.stdout.write('{"type":"agent_settled"}\\n'));
});`;

/** A command that prints 50 MB. */
export const bashFlood = {
  name: 'bash-flood',
  rounds: 5,

  samplers(workspace) {
    const samplers = {};
    for (const [name, command] of Object.entries(commands)) {
      const call = (text) => JSON.stringify({ toolCall: { name: 'bash', arguments: { command: text } } });
      // The first call loads the tool's code and starts the guardian.
      const lines = [call(`printf '%s\\n' {1..20000}`), '{"text":"ok"}', call(command), '{"text":"ok"}'];
      const script = workspace.file(`flood-${name}.jsonl`, `${lines.join('\n')}\n`);
      samplers[name] = () => workspace.agent(['--no-session', '--stream', 'delta', '--script', script], flooded);
      samplers[`${name}Node`] = () => workspace.node(plain(command), flooded);
    }
    return samplers;
  },

  rows({ yes, yesNode, line, lineNode }) {
    const ms = (what, sample, node) => ({
      what,
      unit: 'ms',
      value: sample.ms,
      reference: node.ms,
      limit: { value: 200 },
    });
    const mb = (what, sample, node) => ({
      what,
      unit: 'MB',
      value: sample.mb,
      reference: node.mb,
      limit: { value: 10 },
    });
    return [
      ms('`yes`, prompt to agent_settled', yes, yesNode),
      mb('`yes`, memory over before', yes, yesNode),
      ms('one line, prompt to agent_settled', line, lineNode),
      mb('one line, memory over before', line, lineNode),
    ];
  },
};

async function flooded(child) {
  const prompt = async (id) => {
    const settled = child.until('{"type":"agent_settled"');
    const sent = performance.now();
    child.send({ id, type: 'prompt', message: 'go' });
    return (await settled) - sent;
  };
  await prompt(1);
  const before = Math.max(residentMb(child.pid), peakMb(child.pid));
  const ms = await prompt(2);
  return { ms, mb: peakMb(child.pid) - before };
}

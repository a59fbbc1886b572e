import { peakMb } from '../support/process-stats.mjs';

const SIZE = 40_000_000;

/** Code for a plain Node process that responds to each line and discards it. */
const RESPOND_TO_LINES = `
let answers = 0;
process.stdin.on('data', (chunk) => {
  if (chunk.at(-1) === 10) process.stdout.write('{"id":' + ++answers + ',"type":"response"}\\n');
});`;

/** A line of 40 MB that is rejected. */
export const bigLine = {
  name: 'big-line',
  rounds: 7,

  samplers(workspace) {
    const unknown = bytes(['{"id":2,"type":"nonsense","x":"', '"}\n']);
    const garbage = bytes(['', '\n']);
    const agent = (line, answer) => workspace.agent(['--no-session'], refused(line, answer));
    return {
      node: () => workspace.node(RESPOND_TO_LINES, refused(unknown, '{"id":2,')),
      unknown: () => agent(unknown, '{"id":2,'),
      garbage: () => agent(garbage, '{"type":"response"'),
    };
  },

  rows({ node, unknown, garbage }) {
    const ms = (what, sample) => ({ what, unit: 'ms', value: sample.ms, reference: node.ms, limit: { value: 400 } });
    const mb = (what, sample) => ({ what, unit: 'MB', value: sample.mb, reference: node.mb, limit: { value: 250 } });
    return [
      ms('unknown command, time to the answer', unknown),
      mb('unknown command, peak memory', unknown),
      ms('garbage, time to the answer', garbage),
      mb('garbage, peak memory', garbage),
    ];
  },
};

const bytes = ([head, tail]) => Buffer.from(head + 'x'.repeat(SIZE - head.length - tail.length) + tail);

const refused = (line, answer) => async (child) => {
  await child.request({ id: 1, type: 'get_state' });
  const response = child.until(answer);
  const sent = performance.now();
  child.write(line);
  const ms = (await response) - sent;
  return { ms, mb: peakMb(child.pid) };
};

import { cpuMicros, peakMb, residentMb } from './process-stats.mjs';

export const DELTA = 'abcd';

/** The script of one response with this many deltas. */
export const streamScript = (deltas) => `${JSON.stringify({ text: DELTA, times: deltas })}\n`;

/** Code for a plain Node process that writes one small record per delta. */
export const plainStream = (deltas) => `
process.stdin.once('data', () => {
  process.stdout.write('{"id":1,"type":"response"}\\n');
  process.stdin.once('data', () => {
    for (let n = 0; n < ${deltas}; n++) {
      const assistantMessageEvent = { type: 'text_delta', contentIndex: 0, delta: '${DELTA}' };
      process.stdout.write(JSON.stringify({ type: 'message_update', assistantMessageEvent }) + '\\n');
    }
    process.stdout.write('{"type":"agent_settled"}\\n');
  });
});`;

/** Measures CPU, bytes on the wire and memory of one streamed response. */
export async function streamed(child) {
  await child.request({ id: 1, type: 'get_state' });
  const before = { cpu: cpuMicros(child.pid), bytes: child.bytes, mb: residentMb(child.pid) };
  const settled = child.until('{"type":"agent_settled"');
  child.send({ id: 2, type: 'prompt', message: 'go' });
  await settled;
  return {
    cpu: cpuMicros(child.pid) - before.cpu,
    bytes: child.bytes - before.bytes,
    growthMb: peakMb(child.pid) - before.mb,
  };
}

import { noisePng } from '../support/noise-image.mjs';
import { peakMb } from '../support/process-stats.mjs';

const SIZE = 40_000_000;

/** A prompt with an image of 40 MB. */
export const bigImage = {
  name: 'big-image',
  rounds: 3,

  samplers(workspace) {
    const data = noisePng(SIZE).toString('base64');
    const images = [{ type: 'image', data, mimeType: 'image/png' }];
    const line = Buffer.from(`${JSON.stringify({ id: 2, type: 'prompt', message: 'look', images })}\n`);
    const script = workspace.file('look.jsonl', '{"text":"I see."}\n');
    return {
      memory: () => workspace.agent(['--no-session', '--stream', 'delta', '--script', script], timeImagePrompt(line)),
      disk: () => workspace.agent(['--stream', 'delta', '--script', script], timeImagePrompt(line)),
    };
  },

  rows({ memory, disk }) {
    const mb = (what, sample) => ({ what, unit: 'MB', value: sample.mb, limit: { value: 600 } });
    const ms = (what, sample) => ({ what, unit: 'ms', value: sample.ms });
    return [
      mb('peak memory without a session', memory),
      ms('prompt to agent_settled without a session', memory),
      mb('peak memory with a session on disk', disk),
      ms('prompt to agent_settled with a session on disk', disk),
    ];
  },
};

const timeImagePrompt = (line) => async (child) => {
  await child.request({ id: 1, type: 'get_state' });
  const settled = child.until('{"type":"agent_settled"');
  const sent = performance.now();
  child.write(line);
  const ms = (await settled) - sent;
  return { ms, mb: peakMb(child.pid) };
};

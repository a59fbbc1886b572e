import { statSync, truncateSync } from 'node:fs';
import { header, writeLongSession } from '../support/long-session.mjs';
import { cpuMicros, peakMb, residentMb } from '../support/process-stats.mjs';

const MESSAGES = 50_000;

/** Opens a session of 50,000 messages, compared with an empty one. */
export const openLong = {
  name: 'open-long',
  rounds: 9,

  samplers(workspace) {
    const cwd = workspace.path('project');
    const script = workspace.file('instant.jsonl', '{"text":"ok"}\n{"repeat":true}\n');
    // Written each time: an agent removes an empty session when it ends.
    const empty = () => workspace.file('empty.jsonl', header(cwd));
    const long = workspace.path('long.jsonl');
    writeLongSession(long, { cwd, messages: MESSAGES });
    const { size } = statSync(long);
    const agent = (session, use) => workspace.agent(['--script', script, '--session', session], use);
    return {
      empty: () => agent(empty(), opened),
      long: () => agent(long, opened),
      messages: () => agent(long, getMessages),
      first: async () => {
        const sample = await agent(long, prompted);
        truncateSync(long, size);
        return sample;
      },
      emptyFirst: () => agent(empty(), prompted),
    };
  },

  rows({ empty, long, messages, first, emptyFirst }) {
    return [
      { what: 'spawn to get_state', unit: 'ms', value: long.ms, reference: empty.ms, limit: { over: 60 } },
      { what: 'CPU until get_state', unit: 'ms', value: long.cpu, reference: empty.cpu },
      { what: 'resident at get_state', unit: 'MB', value: long.mb, reference: empty.mb, limit: { over: 25 } },
      { what: 'get_messages', unit: 'ms', value: messages.ms },
      { what: 'peak after get_messages', unit: 'MB', value: messages.peak, reference: empty.peak },
      { what: 'first prompt to agent_end', unit: 'ms', value: first.ms, reference: emptyFirst.ms },
      { what: 'peak after the first prompt', unit: 'MB', value: first.peak, reference: emptyFirst.peak },
    ];
  },
};

async function opened(child) {
  const ms = (await child.request({ id: 1, type: 'get_state' })) - child.startedAt;
  return { ms, cpu: cpuMicros(child.pid) / 1000, mb: residentMb(child.pid), peak: peakMb(child.pid) };
}

async function getMessages(child) {
  await child.request({ id: 1, type: 'get_state' });
  const sent = performance.now();
  const ms = (await child.request({ id: 2, type: 'get_messages' })) - sent;
  return { ms, peak: peakMb(child.pid) };
}

async function prompted(child) {
  await child.request({ id: 1, type: 'get_state' });
  const ended = child.until('{"type":"agent_end"');
  const settled = child.until('{"type":"agent_settled"');
  const sent = performance.now();
  child.send({ id: 2, type: 'prompt', message: 'go' });
  const ms = (await ended) - sent;
  await settled;
  return { ms, peak: peakMb(child.pid) };
}

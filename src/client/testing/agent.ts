import { memoryPair } from '../../wire/memory.ts';
import { AgentClient } from '../agent-client.ts';

type Sent = Record<string, unknown> & { id: string; type: string };

/** A client whose agent is played by the test. */
export function connect() {
  const [agent, link] = memoryPair();
  const sent: Sent[] = [];
  agent.onLine((line) => {
    if ('text' in line) sent.push(JSON.parse(line.text));
  });
  const client = new AgentClient(link);
  const emit = (...records: (object | string)[]) => {
    const lines = records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record)));
    agent.write(lines.map((line) => `${line}\n`).join(''));
  };
  const respond = (id: string, fields: object) => emit({ id, type: 'response', success: true, ...fields });
  return { client, sent, emit, respond, agent };
}

export const settled = (runId: string): object => ({
  type: 'agent_settled',
  runId,
  aborted: false,
  outcome: 'ok',
  clientMessageIds: [],
});

export const MEGABYTES = 'x'.repeat(8 * 1024 * 1024);

export const delivered = () => new Promise((resolve) => setImmediate(resolve));

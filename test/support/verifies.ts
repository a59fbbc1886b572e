import { describe, it } from 'vitest';
import { type OpenOptions, openTestAgent, type TestAgent, type Transport } from './agent/test-agent.ts';

const ALL_TRANSPORTS: readonly Transport[] = ['stdio', 'unix', 'memory', 'websocket'];

/**
 * For rules about an agent and the process that started it: arguments, `ready`, input, exit. Behind a server, the server
 * is that process.
 */
export const LOCAL_TRANSPORTS: readonly Transport[] = ['stdio', 'unix', 'memory'];

/** For rules about an agent that switches its session. Behind a server the client moves to another agent instead. */
export const AGENT_SWITCHES_SESSION: readonly Transport[] = [...LOCAL_TRANSPORTS];

/** For limits on a single client. A server has its own limits and tests. */
export const SINGLE_CLIENT_LIMITS: readonly Transport[] = [...LOCAL_TRANSPORTS];

export interface AgentFixture {
  readonly transport: Transport;
  /** Types of the records that greet a client. */
  readonly greeting: readonly string[];
  readonly open: (options?: OpenOptions) => Promise<TestAgent>;
}

/** Tests rules of docs/spec.md over all transports, or over the given ones. */
export function verifies(
  rules: string,
  title: string,
  body: (fixture: AgentFixture) => Promise<void>,
  transports: readonly Transport[] = ALL_TRANSPORTS,
): void {
  describe(`[${rules}] ${title}`, () => {
    for (const transport of process.env['SOAK'] ? transports : sampleTransports(transports, title)) {
      const greeting = transport === 'websocket' ? ['server_connected', 'state_synced'] : ['ready'];
      it(`over ${transport}`, () =>
        body({ transport, greeting, open: (options) => openTestAgent(transport, options) }));
    }
  });
}

/**
 * A rule for all transports runs over one of them; any other rule over one of its local ones, and over WebSocket if that
 * is listed. Half of the rules run over memory, which starts no process. The title decides, so that every run picks the
 * same; `npm run soak` runs all.
 */
function sampleTransports(transports: readonly Transport[], title: string): readonly Transport[] {
  const number = [...title].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
  const pick = (candidates: readonly Transport[]) => {
    const processes = candidates.filter((transport) => transport !== 'memory');
    const weighted = candidates.includes('memory') ? processes.flatMap((one) => [one, 'memory' as const]) : processes;
    return (weighted.length > 0 ? weighted : candidates).slice(number % Math.max(weighted.length, 1)).slice(0, 1);
  };
  if (transports.length === ALL_TRANSPORTS.length) return pick(transports);
  const local = transports.filter((transport) => transport !== 'websocket');
  return [...pick(local), ...transports.filter((transport) => transport === 'websocket')];
}

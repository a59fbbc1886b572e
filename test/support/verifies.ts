import { describe, it } from 'vitest';
import { type OpenOptions, open, type TestAgent, type Transport } from './open.ts';

const everywhere: readonly Transport[] = ['stdio', 'unix', 'memory', 'websocket'];

/**
 * For what is about one agent and whoever started it: its arguments, `ready`, its input, its exit. Behind a server the
 * server is who started it.
 */
export const LOCAL: readonly Transport[] = ['stdio', 'unix', 'memory'];

/** For what becomes of an agent that is taken to another session. From a server clients go alone: the agent stays. */
export const AGENT_MOVES: readonly Transport[] = [...LOCAL];

/** For how much a single peer may send. A server has limits of its own, and tests of them. */
export const PEER_LIMITS: readonly Transport[] = [...LOCAL];

export interface Bench {
  readonly transport: Transport;
  /** The types of records with which a client is greeted. */
  readonly greeting: readonly string[];
  readonly open: (options?: OpenOptions) => Promise<TestAgent>;
}

/** A test of rules of docs/spec.md, named in its first argument, over every transport or those it is about. */
export function verifies(
  rules: string,
  title: string,
  body: (bench: Bench) => Promise<void>,
  on: readonly Transport[] = everywhere,
): void {
  describe(`[${rules}] ${title}`, () => {
    for (const transport of process.env['SOAK'] ? on : sampled(on, title)) {
      const greeting = transport === 'websocket' ? ['server_connected', 'state_synced'] : ['ready'];
      it(`over ${transport}`, () => body({ transport, greeting, open: (options) => open(transport, options) }));
    }
  });
}

/**
 * Without one of those that only differ from stdio in how bytes come and go, if both are among them: by the title, so that
 * it is the same one every time.
 */
function sampled(on: readonly Transport[], title: string): readonly Transport[] {
  const number = [...title].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
  const without = number % 2 === 0 ? 'unix' : 'memory';
  return on.includes('unix') && on.includes('memory') ? on.filter((transport) => transport !== without) : on;
}

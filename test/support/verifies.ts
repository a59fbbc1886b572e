import { describe, it } from 'vitest';
import { type OpenOptions, open, type TestAgent, type Transport } from './open.ts';

const everywhere: readonly Transport[] = ['stdio', 'unix', 'memory', 'websocket'];

/**
 * For what is about one agent and whoever started it: its arguments, `ready`, its input, its exit. Behind a server the
 * server is who started it.
 */
export const LOCAL: readonly Transport[] = ['stdio', 'unix', 'memory'];

export interface Bench {
  readonly transport: Transport;
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
    for (const transport of on) {
      it(`over ${transport}`, () => body({ transport, open: (options) => open(transport, options) }));
    }
  });
}

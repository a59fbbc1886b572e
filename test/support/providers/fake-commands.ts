import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../agent/test-agent.ts';

/** Programs of clouds, such as `aws`, that a test replaces by shell scripts. */
export interface FakeCommands {
  /** The environment in which they are found first. */
  readonly env: { readonly PATH: string };
  /** Replaces a program. Each call of it is recorded before the script runs. */
  readonly write: (name: string, script: string) => void;
  /** The arguments of all calls, one line each. */
  readonly calls: () => readonly string[];
}

export function fakeCommands({ root }: Home): FakeCommands {
  const folder = join(root, 'bin');
  const log = join(root, 'calls.log');
  mkdirSync(folder, { recursive: true });
  return {
    env: { PATH: `${folder}:${process.env['PATH']}` },
    write: (name, script) =>
      writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> '${log}'\n${script}\n`, { mode: 0o755 }),
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  };
}

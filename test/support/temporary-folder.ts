import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Creates the temporary folder that vitest.config.ts names. */
export function setup(): void {
  mkdirSync(tmpdir(), { recursive: true });
}

export function teardown(): void {
  rmSync(tmpdir(), { recursive: true, force: true });
}

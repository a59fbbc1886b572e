import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Makes the folder that the configuration names. */
export function setup(): void {
  mkdirSync(tmpdir(), { recursive: true });
}

export function teardown(): void {
  rmSync(tmpdir(), { recursive: true, force: true });
}

import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Makes the folder that the configuration names, and clears it away. */
export default function setup(): () => void {
  mkdirSync(tmpdir(), { recursive: true });
  return () => rmSync(tmpdir(), { recursive: true, force: true });
}

import { BubblewrapSandbox } from './bubblewrap.ts';
import { findPrograms, type SandboxPrograms } from './programs.ts';
import { writableRoots } from './roots.ts';
import type { Sandbox, SandboxOptions } from './sandbox.ts';
import { createSeatbeltSandbox } from './seatbelt.ts';

/** Creates the sandbox of a session. Rejects where this machine has no working one; `probeSandbox` has the reason. */
export function createSandbox(
  options: SandboxOptions,
  programs: SandboxPrograms = findPrograms(writableRoots(options).roots),
): Promise<Sandbox> {
  if (process.platform === 'darwin') return createSeatbeltSandbox(options);
  return BubblewrapSandbox.create(options, programs);
}

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { probeSandbox } from '../../../src/system/sandbox/probe.ts';

/** Why this machine cannot run the tests of the sandbox; undefined where it can. */
export const missingSandbox = await findMissing();

/** Tests that need a working bubblewrap. */
export const describeConfined = describe.runIf(missingSandbox === undefined);

/** A test that needs a working bubblewrap. */
export const itConfined = it.runIf(missingSandbox === undefined);

if (missingSandbox !== undefined) reportMissing(missingSandbox);

async function findMissing(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `bubblewrap is a program for Linux, not for ${process.platform}`;
  const probe = await probeSandbox();
  return probe.engine === undefined ? `${probe.reason}. ${probe.remedy}` : undefined;
}

/** Prints one line for all files of a run, whose temporary folder is its own. On CI the tests must not be skipped. */
function reportMissing(reason: string): void {
  if (process.env['CI'] === 'true') throw new Error(`The tests of the sandbox cannot run: ${reason}`);
  try {
    writeFileSync(join(tmpdir(), 'sandbox-tests-skipped'), '', { flag: 'wx' });
    process.stderr.write(`SKIPPED: the tests of the sandbox cannot run: ${reason}\n`);
  } catch {
    // Another process has printed it.
  }
}

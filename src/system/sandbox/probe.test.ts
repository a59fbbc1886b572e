import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeConfined } from '../../../test/support/sandbox/working-sandbox.ts';
import { confinedSessions, scratchFolder } from '../testing/confined.ts';
import { compile } from '../testing/script.ts';
import { probeSandbox } from './probe.ts';
import { findPrograms } from './programs.ts';

const base = scratchFolder();
const open = confinedSessions(join(base, 'sessions'));
let count = 0;

/** A program in the place of bwrap. */
function fakeProgram(script: string): string {
  const path = join(base, `bwrap-${++count}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const linux = process.platform === 'linux';

describeConfined('the probe', () => {
  it('finds the engine and leaves no file in the home folder', async () => {
    expect(await probeSandbox({ home: base })).toEqual({ engine: 'bubblewrap' });
    expect(readdirSync(base).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describeConfined('the probe in a confined command', () => {
  it('finds the engine, or a reason why there is none', async () => {
    const { run, cwd } = await open();
    const script = compile(
      cwd,
      "import { probeSandbox } from './sandbox/probe.ts'; console.log(JSON.stringify(await probeSandbox()));",
    );

    const probe = JSON.parse((await run(`"${process.execPath}" ${script}`)).output);

    // Root without capabilities cannot map its user again.
    expect(probe).toEqual(
      process.getuid?.() === 0
        ? { reason: expect.stringContaining('uid map'), remedy: expect.any(String) }
        : { engine: 'bubblewrap' },
    );
  });
});

describe.runIf(linux)('the probe without a sandbox', () => {
  it('names the packages where bwrap is missing', async () => {
    expect(await probeSandbox({ programs: { bwrap: undefined, nsenter: undefined } })).toEqual({
      reason: 'bwrap is not installed',
      remedy: expect.stringContaining('apt install bubblewrap / dnf install bubblewrap'),
    });
  });

  it('names what bwrap printed where namespaces are refused, and a remedy', async () => {
    const bwrap = fakeProgram('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1');

    expect(await probeSandbox({ home: base, programs: { bwrap, nsenter: undefined } })).toEqual({
      reason: expect.stringContaining('setting up uid map: Permission denied'),
      remedy: expect.stringMatching(/user namespaces/),
    });
  });

  it('finds no engine in a bwrap that confines nothing', async () => {
    // Runs the program after `--`, as in a container where the mounts have no effect.
    const bwrap = fakeProgram('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');

    expect(await probeSandbox({ home: base, programs: { bwrap, nsenter: undefined } })).toMatchObject({
      reason: 'A command can write outside of its folder',
    });
    expect(readdirSync(base).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('findPrograms', () => {
  it('finds no program in a folder that commands can write to', () => {
    const path = fakeProgram('');
    writeFileSync(join(base, 'bwrap'), '');
    chmodSync(join(base, 'bwrap'), 0o755);

    expect(findPrograms([], [base]).bwrap).toBe(join(base, 'bwrap'));
    expect(findPrograms([base], [base]).bwrap).toBeUndefined();
    expect(path).toContain(base);
  });
});

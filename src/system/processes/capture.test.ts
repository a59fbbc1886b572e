import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, until } from '../testing/script.ts';
import { captureOnce } from './capture.ts';

const base = temporaryFolder();
let tests = 0;

/** A duration that identifies one sleep in the process list. */
const newSleep = () => `1000.${process.pid}${String(++tests).padStart(3, '0')}`;

const alive = (trace: string) => execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' }).includes(trace);

function folder() {
  const cwd = mkdtempSync(join(base, 'case-'));
  return {
    cwd,
    capture: (command: string, options: { limitMs?: number; env?: Record<string, string> } = {}) =>
      captureOnce({ command, cwd, env: { ...process.env, ...options.env }, limitMs: options.limitMs ?? 10_000 }),
  };
}

describe('a captured command', () => {
  it('returns its trimmed stdout', async () => {
    const { capture } = folder();

    expect(await capture('echo; echo noise >&2; printf " a\\n b "; cat')).toBe('a\n b');
  });

  it('runs in its folder with its environment', async () => {
    const { capture, cwd } = folder();
    writeFileSync(join(cwd, 'file'), 'from the file');

    expect(await capture('cat file; echo " $GREETING"', { env: { GREETING: 'ahoy' } })).toBe('from the file ahoy');
  });

  it('is killed when its last caller aborts, and runs again for the next', async () => {
    const { cwd } = folder();
    const sleep = newSleep();
    const [first, second] = [new AbortController(), new AbortController()];
    const command = `test -e again && echo done && exit; touch again; sleep ${sleep}`;
    const run = (signal?: AbortSignal) => captureOnce({ command, cwd, env: process.env, limitMs: 60_000, signal });
    const waiting = [first, second].map(({ signal }) => run(signal).catch((error: Error) => error.message));
    await until(() => alive(sleep));

    first.abort();
    expect(alive(sleep)).toBe(true);
    second.abort();

    expect(await Promise.all(waiting)).toEqual(Array(2).fill(`The command \`${command}\` was no longer wanted`));
    await until(() => !alive(sleep));
    expect(await run()).toBe('done');
  });

  it('runs once for all callers, concurrent or later', async () => {
    const { capture, cwd } = folder();
    const command = 'echo run >> runs; echo key';

    const outputs = await Promise.all([capture(command), capture(command)]);
    outputs.push(await capture(command));

    expect(outputs).toEqual(['key', 'key', 'key']);
    expect(readFileSync(join(cwd, 'runs'), 'utf8')).toBe('run\n');
  });

  it('runs again in another folder or environment', async () => {
    const { capture } = folder();
    const elsewhere = folder();
    const command = 'echo "$WHO"; pwd';

    const outputs = [
      await capture(command, { env: { WHO: 'one' } }),
      await capture(command, { env: { WHO: 'two' } }),
      await elsewhere.capture(command, { env: { WHO: 'one' } }),
    ];

    expect(new Set(outputs).size).toBe(3);
  });

  it('runs again after a failure', async () => {
    const { capture, cwd } = folder();
    await expect(capture('cat key')).rejects.toThrow('The command `cat key` ended with code 1');

    writeFileSync(join(cwd, 'key'), 'sk-1');

    expect(await capture('cat key')).toBe('sk-1');
  });

  it.each([
    ['echo sk-secret; exit 3', 'ended with code 3'],
    ['kill -TERM $$', 'was killed by SIGTERM'],
    ['true', 'printed nothing'],
    ['echo "  "', 'printed nothing'],
    ['', 'printed nothing'],
    ['head -c 70000 /dev/zero', 'printed too much'],
  ])('that fails is named in the error, without its output: %s', async (command, failure) => {
    await expect(folder().capture(command)).rejects.toThrow(`The command \`${command}\` ${failure}`);
  });

  it('rejects in a missing folder', async () => {
    const result = captureOnce({ command: 'echo x', cwd: join(base, 'gone'), env: {}, limitMs: 10_000 });

    await expect(result).rejects.toThrow('The command `echo x` did not start (ENOENT)');
  });

  it('is killed with everything in its group when it hangs', async () => {
    const sleep = newSleep();
    const command = `sleep ${sleep} & trap '' TERM; sleep ${sleep}`;

    const hanging = folder().capture(command, { limitMs: 500 });

    await expect(hanging).rejects.toThrow(`The command \`${command}\` took longer than 0.5 seconds`);
    await until(() => !alive(`sleep ${sleep}`));
  });

  it('is killed when it never stops printing', async () => {
    const trace = `flood-${newSleep()}`;

    await expect(folder().capture(`yes ${trace}`)).rejects.toThrow('printed too much');

    await until(() => !alive(`yes ${trace}`));
  });

  it('settles once it exits, whatever runs on in the background', async () => {
    const { capture, cwd } = folder();
    const sleep = newSleep();

    expect(await capture(`sleep ${sleep} & echo $! > pid; echo key`)).toBe('key');

    expect(alive(`sleep ${sleep}`)).toBe(true);
    process.kill(Number(readFileSync(join(cwd, 'pid'), 'utf8')), 'SIGKILL');
  });
});

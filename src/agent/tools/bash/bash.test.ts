import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { killFamily } from '../../../system/processes/process-group.ts';
import { listProcesses } from '../../../system/processes/process-table.ts';
import { compile, processes, readAll, temporaryFolder, until } from '../../../system/testing/script.ts';
import type { ToolError, ToolOutput, ToolUpdate } from '../../tool.ts';
import { bashTool } from './bash.ts';
import type { ShellOptions } from './shell.ts';

const cwd = temporaryFolder();
const start = processes();

const family = 'test';

afterEach(() => killFamily(family));

interface Call {
  readonly command: string;
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  readonly update?: (output: ToolOutput) => void;
}

function bash({ command, timeout, signal, update }: Call, options: Partial<ShellOptions> = {}): Promise<ToolOutput> {
  return bashTool({ cwd, env: process.env, family, ...options }).execute({
    toolCallId: 'call',
    args: { command, ...(timeout === undefined ? {} : { timeout }) },
    signal: signal ?? new AbortController().signal,
    update: update ?? (() => {}),
  });
}

/** Output of a command that must fail. */
const failed = (call: Call, options?: Partial<ShellOptions>): Promise<ToolOutput> =>
  bash(call, options).then(
    () => expect.unreachable('the command succeeded'),
    (error: ToolError) => error.output,
  );

const text = (value: string): ToolOutput => ({ content: [{ type: 'text', text: value }] });
const failure = (value: string): ToolOutput => ({ ...text(value), details: {} });
const textIn = ({ content: [block] }: ToolOutput) => (block?.type === 'text' ? block.text : '');

const living = async (pids: readonly number[]) =>
  (await listProcesses()).map(({ pid }) => pid).filter((pid) => pids.includes(pid));

/** Calls back once a whole line was printed. */
const onLine = (callback: (line: string) => void) => (output: ToolOutput) => {
  if (textIn(output).includes('\n')) callback(textIn(output).trim());
};

describe('a command', () => {
  it('returns what it printed, both streams in order', async () => {
    expect(await bash({ command: 'echo a; echo b >&2; printf c' })).toEqual(text('a\nb\nc'));
  });

  it('without output returns "(no output)"', async () => {
    expect(await bash({ command: 'true' })).toEqual(text('(no output)'));
  });

  it('runs in the working directory, without input', async () => {
    expect(await bash({ command: 'pwd -P; cat' })).toEqual(text(`${cwd}\n`));
  });

  it('runs after the prefix of the settings', async () => {
    expect(await bash({ command: 'echo $WORD' }, { commandPrefix: 'WORD=given' })).toEqual(text('given\n'));
  });

  it('ends with its shell, even if a background process holds the output', async () => {
    const output = await bash({ command: 'sleep 1000 & echo $!' });

    expect(await living([Number(textIn(output))])).toHaveLength(1);
  });

  it.each([
    ['> /dev/stderr', 'echo a; echo b > /dev/stderr; echo c', 'a\nb\nc\n'],
    ['> /dev/stdout', 'echo a; echo b > /dev/stdout; echo c', 'a\nb\nc\n'],
    ['tee /dev/stderr', 'echo a; echo b | tee /dev/stderr > copy; cat copy; echo c', 'a\nb\nb\nc\n'],
    ['a child', 'echo a; (echo b; echo c > /dev/stderr) > /dev/stdout; echo d', 'a\nb\nc\nd\n'],
  ])('keeps output printed before it reopened its output by name: %s', async (_how, command, printed) => {
    expect(await bash({ command })).toEqual(text(printed));
  });

  it('shows bytes that are not UTF-8 as replacement characters', async () => {
    expect(await bash({ command: "printf 'a\\377b\\303'" })).toEqual(text('a\uFFFDb\uFFFD'));
  });
});

describe('a process left in the background', () => {
  /** Prints a lot once `resume` exists, then creates `sign`, unless a closed or full pipe stops it. */
  const waiting = `{ while [ ! -e resume ]; do sleep 0.05; done; seq 1 100000 && touch sign; } &`;
  const resumePrinting = () => {
    writeFileSync(join(cwd, 'resume'), '');
    onTestFinished(() => {
      for (const name of ['resume', 'sign']) rmSync(join(cwd, name));
    });
    return until(() => existsSync(join(cwd, 'sign')));
  };

  it('may print more than a pipe holds after the command has ended', async () => {
    expect(await bash({ command: `${waiting} echo up` })).toEqual(text('up\n'));

    await resumePrinting();
  });

  it('continues to print into the log of the command, if there is one', async () => {
    const { details } = await bash({ command: `seq 1 3000; ${waiting}` });
    const { fullOutputPath } = details as { fullOutputPath: string };
    onTestFinished(() => rmSync(fullOutputPath));

    await resumePrinting();

    await until(() => readFileSync(fullOutputPath, 'utf8').endsWith('\n99999\n100000\n'));
    expect(readFileSync(fullOutputPath, 'utf8').split('\n')).toHaveLength(103_001);
  });

  it('cannot keep the command from ending by printing for ever', async () => {
    const output = await bash({ command: 'yes >&2 & disown; echo $! > flood' }).catch((error) => error.output);
    const { fullOutputPath = '' } = (output.details ?? {}) as { fullOutputPath?: string };
    onTestFinished(() => rmSync(fullOutputPath, { force: true }));

    expect(await living([Number(readFileSync(join(cwd, 'flood')))])).toHaveLength(1);
  });
});

describe('a log in a given folder', () => {
  it('is named to the model by the path that its commands and tools know, and to programs by its own', async () => {
    const path = join(cwd, 'logs');
    mkdirSync(path);
    const logFolder = () => ({ path, shownPath: '/session-tmp' });

    const output = await bash({ command: 'seq 1 3000' }, { logFolder });

    const [name = '', ...others] = readdirSync(path);
    expect(others).toEqual([]);
    expect(textIn(output)).toMatch(`Full output: /session-tmp/${name}]`);
    expect(output.details).toMatchObject({ fullOutputPath: join(path, name) });
    expect(readFileSync(join(path, name), 'utf8').split('\n')).toHaveLength(3001);
  });

  it('is in the temporary folder while there is no other', async () => {
    const output = await bash({ command: 'seq 1 3000' }, { logFolder: () => undefined });
    const { fullOutputPath } = output.details as { fullOutputPath: string };
    onTestFinished(() => rmSync(fullOutputPath));

    expect(dirname(fullOutputPath)).toBe(tmpdir());
    expect(textIn(output)).toContain(`Full output: ${fullOutputPath}]`);
  });
});

describe('progress', () => {
  it('starts empty and always shows the whole output so far, and what is new', async () => {
    const shown: ToolUpdate[] = [];
    const go = join(cwd, 'go');
    const update = (output: ToolUpdate) => {
      shown.push(output);
      if (textIn(output) === 'a\n') writeFileSync(go, '');
    };

    await bash({ command: `echo a; while [ ! -e ${go} ]; do sleep 0.05; done; echo b`, update });

    const details = { truncation: null, fullOutputPath: null };
    expect(shown).toEqual([
      { content: [], details, added: { text: '', offset: 0 } },
      { ...text('a\n'), details, added: { text: 'a\n', offset: 0 } },
      { ...text('a\nb\n'), details, added: { text: 'b\n', offset: 2 } },
    ]);
  });
});

describe('a command that fails', () => {
  it('[T17] names its exit code after its output', async () => {
    expect(await failed({ command: 'echo out; exit 3' })).toEqual(failure('out\n\n\nCommand exited with code 3'));
  });

  it('[T17] names only its exit code when it printed nothing', async () => {
    expect(await failed({ command: 'exit 127' })).toEqual(failure('Command exited with code 127'));
  });

  it('names the signal that killed it', async () => {
    expect(await failed({ command: 'kill -TERM $$' })).toEqual(failure('Command was killed by SIGTERM'));
  });

  it('in a missing folder names the folder', async () => {
    await expect(bash({ command: 'true' }, { cwd: '/no/such/folder' })).rejects.toThrow(
      'Working directory does not exist: /no/such/folder\nCannot execute bash commands.',
    );
  });

  it('without a shell names the setting', async () => {
    const output = await failed({ command: 'true' }, { shellPath: '/no/such/shell' });

    expect(textIn(output)).toBe(
      'The shell of settings.json (shellPath) cannot be started: spawn /no/such/shell ENOENT',
    );
  });
});

describe('the timeout', () => {
  it('kills the whole process group and names the seconds', async () => {
    const output = await failed({ command: 'sleep 1000 & echo $!; echo $$; wait', timeout: 1.5 });

    const [child, shell, ...rest] = textIn(output).split('\n');
    expect(rest).toEqual(['', '', 'Command timed out after 1.5 seconds']);
    expect(await living([Number(child), Number(shell)])).toEqual([]);
  });

  it('may be longer than any timer', async () => {
    expect(await bash({ command: 'sleep 0.1; echo done', timeout: 10_000_000 })).toEqual(text('done\n'));
  });
});

describe('abort', () => {
  it('[T18] kills the whole group and keeps what was printed', async () => {
    const controller = new AbortController();
    const update = onLine(() => controller.abort());

    const output = await failed({ command: 'sleep 1000 & echo $! $$; wait', signal: controller.signal, update });

    const [pids = '', ...rest] = textIn(output).split('\n');
    expect(rest).toEqual(['', '', 'Command aborted']);
    expect(pids).toMatch(/^\d+ \d+$/);
    expect(await living(pids.split(' ').map(Number))).toEqual([]);
  });

  it('also kills a command that ignores signals', async () => {
    const controller = new AbortController();
    const update = onLine(() => controller.abort());
    const command = "trap '' TERM INT HUP; echo up; while :; do sleep 0.05; done";

    expect(await failed({ command, signal: controller.signal, update })).toEqual(failure('up\n\n\nCommand aborted'));
  });

  it('before the start prevents the start', async () => {
    const command = ': > began; sleep 1000; echo never';

    expect(await failed({ command, signal: AbortSignal.abort() })).toEqual(failure('Command aborted'));
    expect(existsSync(join(cwd, 'began'))).toBe(false);
  });
});

describe('output that is too long', () => {
  /** Output of a truncated command: the shown text, its notice, and the log it names. */
  async function cut(call: Call, options?: Partial<ShellOptions>) {
    const output = await bash(call, options).catch((error: ToolError) => error.output);
    const { fullOutputPath } = output.details as { fullOutputPath: string };
    onTestFinished(() => rmSync(fullOutputPath));
    const [notice = ''] = /\[Showing .*\]/.exec(textIn(output)) ?? [];
    const [shown = ''] = textIn(output).split('\n\n[');
    return {
      output,
      shown,
      notice: notice.replace(fullOutputPath, '<file>'),
      file: readFileSync(fullOutputPath, 'utf8'),
    };
  }

  it('keeps its last lines', async () => {
    const { output, shown, notice, file } = await cut({ command: 'seq 1 3000' });

    expect(shown.split('\n')).toEqual(Array.from({ length: 2000 }, (_, index) => `${index + 1001}`));
    expect(notice).toBe('[Showing lines 1001-3000 of 3000. Full output: <file>]');
    expect(file.split('\n')).toHaveLength(3001);
    expect(output.details).toMatchObject({ truncation: { truncatedBy: 'lines', totalLines: 3000, outputLines: 2000 } });
  });

  it('keeps its last bytes', async () => {
    const { shown, notice, file } = await cut({ command: `for i in {1..100}; do printf '%01023d\\n' $i; done` });

    expect(shown.split('\n')).toHaveLength(50);
    expect(shown.endsWith('0100')).toBe(true);
    expect(notice).toBe('[Showing lines 51-100 of 100 (50.0KB limit). Full output: <file>]');
    expect(file).toHaveLength(100 * 1024);
  });

  it.each(['', '; echo'])('keeps the end of one long line%s', async (more) => {
    const { shown, notice } = await cut({ command: `echo first; printf '%0204800d' 7${more}` });

    expect(shown).toBe(`${'0'.repeat(51199)}7`);
    expect(notice).toBe('[Showing last 50.0KB of line 2 (line is 200.0KB). Full output: <file>]');
  });

  it('ends with the failure after the notice', async () => {
    const { output } = await cut({ command: 'seq 1 3000; exit 4' });

    expect(textIn(output)).toMatch(/ Full output: .*\]\n\nCommand exited with code 4$/);
  });

  it('names a log that holds only its beginning', async () => {
    const { notice, file } = await cut({ command: 'seq 1 3000' }, { logBytes: 2048 });

    expect(notice).toBe('[Showing lines 1001-3000 of 3000. First 2.0KB of the output: <file>]');
    expect(file).toHaveLength(2048);
  });

  it('is shown even if no log can be written', async () => {
    vi.stubEnv('TMPDIR', join(cwd, 'missing'));
    onTestFinished(() => void vi.unstubAllEnvs());

    const output = await bash({ command: 'seq 1 3000' });

    expect(textIn(output)).toMatch(
      /\n3000\n\n\[Showing lines 1001-3000 of 3000\. The full output could not be kept: ENOENT: .*\]$/,
    );
    expect(output.details).toMatchObject({ truncation: { totalLines: 3000 }, fullOutputPath: null });
  });

  it.each([
    ['one long line', `head -c 50000000 /dev/zero | tr '\\0' x`, 1],
    ['short lines', 'yes | head -c 50000000', 25_000_000],
  ])('costs constant memory: %s', async (_name, command, lines) => {
    // Not maxRSS of resourceUsage: a child process inherits that from its parent.
    const script = compile(
      cwd,
      `import { readFileSync, rmSync } from 'node:fs';
       import { bashTool } from '../agent/tools/bash/bash.ts';
       const tool = bashTool({ cwd: '/', env: process.env, family: 'test' });
       const run = (command) => tool.execute({ args: { command }, signal: new AbortController().signal, update() {} });
       await run('seq 1 3000').then(({ details }) => rmSync(details.fullOutputPath));
       const before = process.memoryUsage.rss();
       const { details } = await run(process.argv[2]);
       const [, peak] = /VmHWM:\\s+(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
       const grown = peak * 1024 - before;
       rmSync(details.fullOutputPath);
       console.log(JSON.stringify({ grown, lines: details.truncation.totalLines }));`,
    );

    const result = JSON.parse(await readAll(start(process.execPath, [script, command]).stdout));

    expect(result).toEqual({ grown: expect.any(Number), lines });
    expect(result.grown).toBeLessThan(20 * 1024 * 1024);
  });
});

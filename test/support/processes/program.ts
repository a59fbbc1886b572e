import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { environment, type Home, TAU } from '../agent/test-agent.ts';

/** Exit status and output of a program. */
export interface ExitResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly env?: Record<string, string>;
  /** Written to stdin, which is then closed. */
  readonly input?: string;
}

/** A program that was started. */
export interface RunningProgram {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Settles when stdout contains this text; fails if the program ends before. */
  readonly waitForOutput: (text: string) => Promise<void>;
  /** Settles when the program has ended and every process that holds its output has closed it. */
  readonly finished: Promise<ExitResult>;
  /** Writes an object as a JSON line, or text unchanged. */
  readonly send: (value: object | string) => void;
}

/** Runs the published program until it ends. */
export const runTau = (home: Home, args: readonly string[], options: ProgramOptions = {}): Promise<ExitResult> =>
  startProgram(home, [process.execPath, TAU, ...args], options).finished;

/** Starts a program in the project folder of this home. It is killed after the test. */
export function startProgram(
  home: Home,
  [program = '', ...args]: readonly string[],
  options: ProgramOptions = {},
): RunningProgram {
  const child = spawn(program, args, { cwd: home.cwd, env: environment(home, options.env), detached: true });
  let stdout = '';
  let stderr = '';
  child.stdin.on('error', () => {});
  if (options.input !== undefined) child.stdin.end(options.input);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const finished = new Promise<ExitResult>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  onTestFinished(async () => {
    killGroup(child);
    await finished;
  });
  const waitForOutput = async (text: string) => {
    const ended = finished.then(() => 'ended' as const);
    while (!stdout.includes(text)) {
      const more = new Promise((resolve) => child.stdout.once('data', resolve));
      if ((await Promise.race([more, ended])) === 'ended' && !stdout.includes(text)) {
        throw new Error(`${program} ended before it printed ${JSON.stringify(text)}:\n${stdout}\n${stderr}`);
      }
    }
  };
  const send = (value: object | string) =>
    void child.stdin.write(typeof value === 'string' ? value : `${JSON.stringify(value)}\n`);
  return { child, stdout: () => stdout, stderr: () => stderr, waitForOutput, finished, send };
}

/** Kills all processes of the program's group. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

/** A PATH on which `pi` starts the built program, as after `tau shim pi`. */
export function pathWithPi(home: Home): Record<string, string> {
  const bin = join(home.root, 'bin');
  execFileSync(process.execPath, [TAU, 'shim', 'pi', '--dir', bin], { cwd: home.cwd, env: environment(home) });
  return { PATH: `${bin}:${process.env['PATH']}` };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { environment, type Home, TAU } from './open.ts';

/** How a command went. */
export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Record<string, string>;
  /** What is piped into it; its input ends after that. */
  readonly input?: string;
}

/** A program at work. */
export interface Command {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Settles when this text is in its output. */
  readonly printed: (text: string) => Promise<void>;
  /** Settles when it has ended and everything it started has let go of its output. */
  readonly finished: Promise<Finished>;
  /** Sends a command, or types a text. */
  readonly send: (value: object | string) => void;
}

/** Runs the published program with these arguments to its end. */
export const tau = (home: Home, args: readonly string[], options: CommandOptions = {}): Promise<Finished> =>
  command(home, [process.execPath, TAU, ...args], options).finished;

/** Starts a program in the project of this user. It is gone after the test. */
export function command(home: Home, [program = '', ...args]: readonly string[], options: CommandOptions = {}): Command {
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
  const finished = new Promise<Finished>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  onTestFinished(async () => {
    killGroup(child);
    await finished;
  });
  const printed = async (text: string) => {
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
  return { child, stdout: () => stdout, stderr: () => stderr, printed, finished, send };
}

/** Whatever it left in its own process group goes too. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left of it.
  }
}

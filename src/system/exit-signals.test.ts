import { describe, expect, it } from 'vitest';
import { type ExitSignal, signalExitCode } from './exit-signals.ts';
import { compile, exitOf, processes, temporaryFolder } from './testing/script.ts';

const folder = temporaryFolder();
const start = processes();

/** Starts a process with the given handler body, sends it the signals in turn, and returns its output and exit. */
async function afterSignals(
  handler: string,
  signals: readonly ExitSignal[],
): Promise<{ printed: string[]; exit: unknown }> {
  const script = compile(
    folder,
    `import { onExitSignal } from './exit-signals.ts';
     const print = (word) => process.stdout.write(word + '\\n');
     onExitSignal(async (signal) => { print(signal); ${handler} });
     setInterval(() => undefined, 1000);
     print('up');`,
  );
  const child = start(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = exitOf(child);
  const printed: string[] = [];
  const rest = [...signals];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed.push(...text.trim().split('\n'));
    const signal = rest.shift();
    if (signal) child.kill(signal);
  });
  return { exit: await exited, printed };
}

describe('onExitSignal', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'runs the handler on %s, then exits with its code',
    async (signal) => {
      const outcome = await afterSignals(`await new Promise((resolve) => setImmediate(resolve)); print('cleaned');`, [
        signal,
      ]);

      expect(outcome).toEqual({ printed: ['up', signal, 'cleaned'], exit: signalExitCode[signal] });
    },
  );

  it('exits at once on a second signal, with that signal’s code', async () => {
    const outcome = await afterSignals(`await new Promise(() => undefined);`, ['SIGTERM', 'SIGINT']);

    expect(outcome).toEqual({ printed: ['up', 'SIGTERM'], exit: 130 });
  });

  it('exits when the handler fails', async () => {
    expect(await afterSignals(`throw new Error('no');`, ['SIGHUP'])).toEqual({ printed: ['up', 'SIGHUP'], exit: 129 });
  });

  it('exits when the handler never ends', async () => {
    const outcome = await afterSignals(`await new Promise(() => undefined);`, ['SIGTERM']);

    expect(outcome).toEqual({ printed: ['up', 'SIGTERM'], exit: 143 });
  });

  it('does not change signals once stopped', async () => {
    const script = compile(
      folder,
      `import { onExitSignal } from './exit-signals.ts';
       onExitSignal(async () => undefined).stop();
       process.kill(process.pid, 'SIGTERM');
       setInterval(() => undefined, 1000);`,
    );

    expect(await exitOf(start(process.execPath, [script]))).toBe('SIGTERM');
  });
});

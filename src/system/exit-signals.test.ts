import { describe, expect, it } from 'vitest';
import { type ExitSignal, signalExitCode } from './exit-signals.ts';
import { compile, exitOf, processes, temporaryFolder } from './testing/script.ts';

const folder = temporaryFolder();
const start = processes();

/** Starts a process whose handler is the given body, sends it signals one after another, tells what it said and its exit. */
async function afterSignals(
  handler: string,
  signals: readonly ExitSignal[],
): Promise<{ said: string[]; exit: unknown }> {
  const script = compile(
    folder,
    `import { onExitSignal } from './exit-signals.ts';
     const say = (word) => process.stdout.write(word + '\\n');
     onExitSignal(async (signal) => { say(signal); ${handler} });
     setInterval(() => undefined, 1000);
     say('up');`,
  );
  const child = start(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = exitOf(child);
  const said: string[] = [];
  const rest = [...signals];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.push(...text.trim().split('\n'));
    const signal = rest.shift();
    if (signal) child.kill(signal);
  });
  return { exit: await exited, said };
}

describe('onExitSignal', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'runs the handler on %s, then exits with its code',
    async (signal) => {
      const outcome = await afterSignals(`await new Promise((resolve) => setImmediate(resolve)); say('cleaned');`, [
        signal,
      ]);

      expect(outcome).toEqual({ said: ['up', signal, 'cleaned'], exit: signalExitCode[signal] });
    },
  );

  it('exits at once on a second signal, with that signal’s code', async () => {
    const outcome = await afterSignals(`await new Promise(() => undefined);`, ['SIGTERM', 'SIGINT']);

    expect(outcome).toEqual({ said: ['up', 'SIGTERM'], exit: 130 });
  });

  it('exits when the handler fails', async () => {
    expect(await afterSignals(`throw new Error('no');`, ['SIGHUP'])).toEqual({ said: ['up', 'SIGHUP'], exit: 129 });
  });

  it('exits when the handler never ends', async () => {
    const outcome = await afterSignals(`await new Promise(() => undefined);`, ['SIGTERM']);

    expect(outcome).toEqual({ said: ['up', 'SIGTERM'], exit: 143 });
  });

  it('leaves signals alone once stopped', async () => {
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

/** The signals that request the exit of this process. */
export type ExitSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

/** The exit codes by which a shell recognises the signal. */
export const signalExitCode: Readonly<Record<ExitSignal, number>> = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 };

const HANDLER_LIMIT_MS = 8000;
const signals = Object.keys(signalExitCode) as ExitSignal[];

/**
 * Runs `handler` at the first exit signal, then exits with that signal's code, also when the handler fails.
 *
 * A second signal exits at once with its own code; a handler that exceeds its limit is cut off.
 */
export function onExitSignal(
  handler: (signal: ExitSignal) => Promise<void>,
  { limitMs = HANDLER_LIMIT_MS } = {},
): { stop(): void } {
  let isExiting = false;

  const handleAndExit = async (signal: ExitSignal) => {
    const exit = () => process.exit(signalExitCode[signal]);
    setTimeout(exit, limitMs);
    try {
      await handler(signal);
    } finally {
      exit();
    }
  };

  const receive = (signal: ExitSignal) => {
    if (isExiting) process.exit(signalExitCode[signal]);
    isExiting = true;
    void handleAndExit(signal);
  };

  for (const signal of signals) process.on(signal, receive);
  return {
    stop: () => {
      for (const signal of signals) process.off(signal, receive);
    },
  };
}

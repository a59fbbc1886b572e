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

// The check is the only timer of an idle agent, and a process ends within 2 seconds after its parent (rule Z34).
const PARENT_CHECK_MS = 1500;

/**
 * Calls `onParentExit` once when the process that started this one has died.
 *
 * Does not keep the process alive. A parent that died before the call is not noticed.
 */
export function watchParent(onParentExit: () => void, intervalMs = PARENT_CHECK_MS): { stop(): void } {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onParentExit();
  }, intervalMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

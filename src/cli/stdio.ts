import { terminalText } from '../system/terminal-text.ts';

/** Watches stdout; the returned function reports at the end whether a write failed. */
export function watchStdout(): () => Promise<NodeJS.ErrnoException | undefined> {
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closes stdout is not an error.
    if (error.code !== 'EPIPE') failure ??= error;
  });
  return async () => {
    // Errors are emitted in the turn after the write.
    await new Promise((resolve) => setImmediate(resolve));
    return failure;
  };
}

/**
 * Prints the whole output of a command, without controls on a terminal. Returns exit code 0 once it is written, or its
 * reader has closed stdout.
 */
export function printAndExit(text: string): Promise<number> {
  return new Promise((resolve) => {
    process.stdout.on('error', () => resolve(0));
    process.stdout.write(process.stdout.isTTY ? terminalText(text) : text, () => resolve(0));
  });
}

/** Watches the reader of stdout: `done` resolves when it closes stdout, as `head` does. */
export function watchStdoutReader(): { readonly done: Promise<void>; flushed(): Promise<void> } {
  const done = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));
  const flushed = () => Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), done]);
  return { done, flushed };
}

/** Whether stdin and stdout are a terminal. */
export const hasTerminal = () => process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb';

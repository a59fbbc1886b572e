import { batchedWrite } from './batched-write.ts';
import { redirectChildren } from './stdout/redirect-children.ts';
import { redirectFilePromises, redirectFiles } from './stdout/redirect.ts';

/** The one writer that reaches file descriptor 1. */
export interface Stdout {
  /** False when the reader is behind: the text is queued, and the caller should wait for `onDrain`. */
  write(text: string): boolean;
  onDrain(listener: () => void): void;
  /** Called once, when the reader has gone. From then on writes are dropped and nobody is told to wait. */
  onError(listener: (error: NodeJS.ErrnoException) => void): void;
  /** Settles when everything written so far is in the kernel, or never will be. */
  flush(): Promise<void>;
}

let claimed: Stdout | undefined;

/**
 * Takes stdout for the protocol: whatever else JavaScript or a child prints goes to stderr.
 *
 * Covers process.stdout, console, node:fs and, from the next tick on, node:fs/promises and node:child_process, also
 * for code that imported them earlier. Out of reach: native code, a worker thread's own node:fs, and a handle that
 * is built on descriptor 1 by hand (`new net.Socket({ fd: 1 })`).
 */
export function takeStdout(): Stdout {
  claimed ??= claim();
  return claimed;
}

function claim(): Stdout {
  // The real stream must exist before node:fs is changed: for a file it holds on to the `writeSync` it first saw.
  const stdout = writerTo(process.stdout);
  redirectStream(process.stdout);
  redirectFiles();
  updateImports();
  // These modules take longer to load than all the rest: after the first record, but before any callback or promise.
  process.nextTick(() => {
    redirectFilePromises();
    redirectChildren();
    updateImports();
  });
  return stdout;
}

const updateImports = () => process.getBuiltinModule('node:module').syncBuiltinESMExports();

function writerTo(stream: NodeJS.WriteStream): Stdout {
  // The stream's own way is about to be redirected.
  const writeThrough = stream.write.bind(stream);
  const write = batchedWrite(stream);
  const drainListeners: (() => void)[] = [];
  const errorListeners: ((error: NodeJS.ErrnoException) => void)[] = [];
  let failure: NodeJS.ErrnoException | undefined;

  const drain = () => {
    for (const listener of drainListeners) listener();
  };
  stream.on('drain', drain);
  stream.on('error', (error) => {
    // Every write to a reader that has gone fails anew; the first failure says it all.
    if (failure) return;
    failure = error;
    for (const listener of errorListeners) listener(error);
    drain();
  });

  return {
    write: (text) => (failure ? true : write(text)),
    onDrain: (listener) => void drainListeners.push(listener),
    onError: (listener) => {
      if (failure) process.nextTick(listener, failure);
      else errorListeners.push(listener);
    },
    flush: () =>
      new Promise((resolve) => {
        if (failure) resolve();
        else writeThrough('', () => resolve());
      }),
  };
}

/** Makes process.stdout another name of process.stderr, and the old stream, which console may hold, a way to it. */
function redirectStream(stdout: NodeJS.WriteStream): void {
  const { stderr } = process;
  stderr.on('error', () => undefined);
  Object.assign(stderr, { end: endWithoutClosing });
  Object.assign(stdout, { write: stderr.write.bind(stderr), end: endWithoutClosing });
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => process.stderr });
}

/** `process.stdout.end()` is legal and would shut stderr for everyone: this says that it ended, and goes on. */
function endWithoutClosing(...args: unknown[]): NodeJS.WriteStream {
  const { stderr } = process;
  const [chunk] = args;
  const callback = args.find((arg) => typeof arg === 'function');
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) stderr.write(chunk);
  stderr.write('', () => {
    stderr.emit('finish');
    stderr.emit('close');
    callback?.();
  });
  return stderr;
}

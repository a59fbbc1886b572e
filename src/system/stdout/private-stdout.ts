import { batchedWrite } from '../batched-write.ts';
import { redirectChildren, redirectFilePromises, redirectFiles } from './redirect.ts';

/** The only writer to file descriptor 1: everything else that prints goes to stderr. */
export interface Stdout {
  /** False when the reader is behind: the text is queued, and the caller should wait for `onDrain`. */
  write(text: string): boolean;
  onDrain(listener: () => void): void;
  /** Called once, when the reader has closed. Later writes are dropped and return true. */
  onError(listener: (error: NodeJS.ErrnoException) => void): void;
  /** Settles when everything written so far is in the kernel, or writing has failed. */
  flush(): Promise<void>;
}

let claimed: Stdout | undefined;

// The part of the redirection that is still to be done.
let rest: (() => void) | undefined;

/**
 * Reserves stdout for the protocol: everything else that JavaScript or a child prints goes to stderr.
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
  // The real stream must exist before node:fs is changed: for a file it keeps the first `writeSync` that it sees.
  const stdout = writerTo(process.stdout);
  redirectStream(process.stdout);
  redirectFiles();
  updateImports();
  rest = () => {
    rest = undefined;
    redirectFilePromises();
    redirectChildren();
    updateImports();
  };
  // These modules take longer to load than the others: after the first record.
  process.nextTick(completeRedirection);
  return stdout;
}

/** Completes the redirection of a reserved stdout at once. Promises may run before the next tick, and load an extension. */
export function completeRedirection(): void {
  rest?.();
}

const updateImports = () => process.getBuiltinModule('node:module').syncBuiltinESMExports();

function writerTo(stream: NodeJS.WriteStream): Stdout {
  // `stream.write` is about to be redirected.
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
    // Every later write fails too; only the first failure is reported.
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

/** Makes process.stdout an alias of process.stderr; the old stream, which console may hold, writes to stderr. */
function redirectStream(stdout: NodeJS.WriteStream): void {
  const { stderr } = process;
  stderr.on('error', () => undefined);
  Object.assign(stderr, { end: endWithoutClosing });
  Object.assign(stdout, { write: stderr.write.bind(stderr), end: endWithoutClosing });
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => process.stderr });
}

/** `process.stdout.end()` is legal and would close stderr: this emits the events of the end and keeps it open. */
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

import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const STDOUT = 1;
const STDERR = 2;
const writers = [
  'write',
  'writeSync',
  'writev',
  'writevSync',
  'writeFile',
  'writeFileSync',
  'appendFile',
  'appendFileSync',
];

/**
 * Redirects writes of node:fs from stdout to stderr, by number or by path, and keeps both open.
 *
 * Streams need no patch: they call `open`, `write` and `close` of the module.
 */
export function redirectFiles(): void {
  for (const name of writers) replaceMethod(fs, name, redirectWrite);
  replaceMethod(
    fs,
    'openSync',
    (original) =>
      (path, ...rest) =>
        isStdoutPath(path) ? STDERR : original(path, ...rest),
  );
  replaceMethod(fs, 'open', (original) => (path, ...rest) => {
    const callback = rest.at(-1);
    if (!isStdoutPath(path) || typeof callback !== 'function') return original(path, ...rest);
    return process.nextTick(callback, null, STDERR);
  });
  replaceMethod(fs, 'closeSync', (original) => (fd) => (isStandard(fd) ? undefined : original(fd)));
  replaceMethod(fs, 'close', (original) => (fd, callback, ...rest) => {
    if (!isStandard(fd)) return original(fd, callback, ...rest);
    return typeof callback === 'function' ? process.nextTick(callback, null) : undefined;
  });
}

const redirectWrite = (original: UntypedMethod): UntypedMethod => {
  return (target, ...rest) => original(target === STDOUT || isStdoutPath(target) ? STDERR : target, ...rest);
};

/** Redirects writes of node:fs/promises, which take paths only. */
export function redirectFilePromises(): void {
  const { writeFile } = fs;
  const writeStderr = (original: UntypedMethod): UntypedMethod => {
    return (path, ...rest) =>
      isStdoutPath(path) ? promisify(writeFile)(STDERR, ...(rest as [string])) : original(path, ...rest);
  };
  replaceMethod(fs.promises, 'writeFile', writeStderr);
  replaceMethod(fs.promises, 'appendFile', writeStderr);
  // stderr may be a log file and must not be truncated, whatever the flags.
  replaceMethod(fs.promises, 'open', (original) => (path, ...rest) => {
    return isStdoutPath(path) ? original('/dev/stderr', 'a') : original(path, ...rest);
  });
}

const isStandard = (fd: unknown) => fd === STDOUT || fd === STDERR;

let stdoutPaths: ReadonlySet<string> | undefined;

function isStdoutPath(path: unknown): boolean {
  stdoutPaths ??= new Set([
    '/dev/stdout',
    '/dev/fd/1',
    '/proc/self/fd/1',
    '/proc/thread-self/fd/1',
    `/proc/${process.pid}/fd/1`,
  ]);
  if (typeof path === 'string') return stdoutPaths.has(path);
  if (Buffer.isBuffer(path)) return stdoutPaths.has(path.toString());
  return path instanceof URL && path.protocol === 'file:' && stdoutPaths.has(fileURLToPath(path));
}

/**
 * Gives children stderr where they would inherit stdout.
 *
 * `spawn`, `fork`, `exec` and `execFile` all call `ChildProcess.prototype.spawn`; the synchronous ones share no method.
 */
export function redirectChildren(): void {
  const childProcess = process.getBuiltinModule('node:child_process');
  replaceMethod(childProcess.ChildProcess.prototype, 'spawn', (original) => {
    return function (this: unknown, options) {
      return original.call(this, withoutStdout(options));
    };
  });
  const synchronous = (original: UntypedMethod): UntypedMethod => {
    return (...args) => original(...args.map(withoutStdout));
  };
  for (const name of ['spawnSync', 'execSync', 'execFileSync']) replaceMethod(childProcess, name, synchronous);
}

function withoutStdout(options: unknown): unknown {
  if (typeof options !== 'object' || options === null || !('stdio' in options)) return options;
  const { stdio } = options;
  if (stdio === 'inherit') return { ...options, stdio: ['inherit', STDERR, STDERR] };
  if (Array.isArray(stdio)) return { ...options, stdio: stdio.map(slotWithoutStdout) };
  return options;
}

const slotWithoutStdout = (slot: unknown, index: number): unknown =>
  (slot === 'inherit' && index === STDOUT) || descriptorOf(slot) === STDOUT ? STDERR : slot;

/** The file descriptor behind a number, a stream or a handle. */
function descriptorOf(slot: unknown): unknown {
  if (typeof slot !== 'object' || slot === null) return slot;
  const { fd, handle, _handle } = slot as { fd?: unknown; handle?: { fd?: unknown }; _handle?: { fd?: unknown } };
  return fd ?? handle?.fd ?? _handle?.fd;
}

type UntypedMethod = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces a method by a wrapper, which keeps the properties of the original, such as its `util.promisify` form. */
function replaceMethod(owner: object, name: string, wrap: (original: UntypedMethod) => UntypedMethod): void {
  const methods = owner as Record<string, UntypedMethod>;
  const original = methods[name];
  if (!original) return;
  methods[name] = Object.defineProperties(wrap(original), Object.getOwnPropertyDescriptors(original));
}

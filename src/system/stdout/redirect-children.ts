import { type UntypedMethod, replaceMethod } from './replace-method.ts';

const CHILD_STDOUT = 1;
const CHILD_STDERR = 2;

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
  if (stdio === 'inherit') return { ...options, stdio: ['inherit', CHILD_STDERR, CHILD_STDERR] };
  if (Array.isArray(stdio)) return { ...options, stdio: stdio.map(slotWithoutStdout) };
  return options;
}

const slotWithoutStdout = (slot: unknown, index: number): unknown =>
  (slot === 'inherit' && index === CHILD_STDOUT) || descriptorOf(slot) === CHILD_STDOUT ? CHILD_STDERR : slot;

/** The file descriptor behind a number, a stream or a handle. */
function descriptorOf(slot: unknown): unknown {
  if (typeof slot !== 'object' || slot === null) return slot;
  const { fd, handle, _handle } = slot as { fd?: unknown; handle?: { fd?: unknown }; _handle?: { fd?: unknown } };
  return fd ?? handle?.fd ?? _handle?.fd;
}

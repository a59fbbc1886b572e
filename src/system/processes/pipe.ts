import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fifoFolders, makeGuardedFifo } from './guardian.ts';

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** The descriptors of both ends. Reading never blocks, writing does. */
export interface Pipe {
  readonly read: number;
  readonly write: number;
}

let preparedPipe: Promise<Pipe | undefined> | undefined;

/**
 * Opens a pipe that leaves no file in any folder.
 *
 * It is made from a FIFO: the pipe of `spawn` is a socket, which a child cannot open as /dev/stderr. The next pipe is
 * prepared in advance, so that only the first caller waits.
 */
export async function openPipe(): Promise<Pipe> {
  const ready = preparedPipe ?? tryMakePipe();
  preparedPipe = tryMakePipe();
  return (await ready) ?? makePipe();
}

const tryMakePipe = () => makePipe().catch(() => undefined);

async function makePipe(): Promise<Pipe> {
  const path = (await makeGuardedFifo()) ?? (await makeOwnFifo());
  let read: number | undefined;
  try {
    // In this order: a FIFO without a reader cannot be opened for writing.
    read = openSync(path, O_RDONLY | O_NONBLOCK);
    return { read, write: openSync(path, O_WRONLY) };
  } catch (error) {
    if (read !== undefined) closeSync(read);
    throw error;
  } finally {
    rmSync(path, { force: true });
  }
}

/** The fallback without a guardian. If this process is killed meanwhile, the FIFO stays. */
async function makeOwnFifo(): Promise<string> {
  const failures: string[] = [];
  for (const folder of fifoFolders()) {
    const path = join(folder, `tau-${randomBytes(8).toString('hex')}`);
    try {
      await promisify(execFile)('mkfifo', ['-m', '600', path]);
      return path;
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: string };
      failures.push(stderr?.trim() || message);
    }
  }
  throw new Error(`Cannot make a pipe for the output of a command:\n${failures.join('\n')}`);
}

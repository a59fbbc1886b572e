import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fifoFolders, makeGuardedFifo } from './guardian.ts';

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** The descriptors of a pipe's two ends. Reading never waits, writing does. */
export interface Pipe {
  readonly read: number;
  readonly write: number;
}

let preparedPipe: Promise<Pipe | undefined> | undefined;

/**
 * Opens a pipe of which nothing is left in any folder.
 *
 * A real one, by way of a FIFO: what `spawn` calls a pipe is a socket, which a child cannot open by the name
 * /dev/stderr. The next one is made ready meanwhile, so that only the first caller waits.
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

/** For want of a guardian. A FIFO that is left behind by a kill in between stays. */
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

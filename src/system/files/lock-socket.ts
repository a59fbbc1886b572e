import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { closeServer, listenExclusively } from './listen.ts';
import type { Holder, Lock } from './lock.ts';

const ATTEMPTS = 20;
const REMOVAL_RETRY_MS = 25;
const HOLDER_TIMEOUT_MS = 500;
// Connecting needs the permission to write: this user must recognise a dead lock of root.
const MODE = 0o666;
/** A descriptor that only names a file. Linux has it, `node:fs` has no name for it. */
export const O_PATH = 0o10000000;

// The folder does not exist, cannot hold this socket or may not be written to.
const noSocketCodes = new Set(
  'ENOENT ENOTDIR EACCES EPERM EROFS ENAMETOOLONG ENOTSUP EOPNOTSUPP ENOSYS EINVAL'.split(' '),
);
// The folder is sticky, or its permissions have changed.
const notPermittedCodes = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Acquires the lock of a real path: the socket `<path>.tau-lock`. The kernel decides who may create it, and whether its
 * holder runs: also for a stopped holder, or one in another container.
 *
 * Returns the holder if there is one, and undefined if the folder cannot hold a socket, or holds a dead one that this
 * user cannot remove. The socket of a dead holder stays and is replaced by the next caller.
 */
export const acquireLockSocket = (path: string): Promise<Lock | Holder | undefined> => acquire(socketPath(path));

/** Returns the holder of the lock of a real path, if there is one. */
export async function lockSocketHolder(path: string): Promise<Holder | undefined> {
  const { holder } = await inspect(socketPath(path));
  return typeof holder === 'object' ? holder : undefined;
}

const socketPath = (path: string) => `${path}.tau-lock`;

const isUnsupported = (error: unknown) => noSocketCodes.has((error as NodeJS.ErrnoException).code ?? '');

async function acquire(file: string): Promise<Lock | Holder | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { holder, ino } = await inspect(file);
    if (typeof holder === 'object') return holder;
    if (holder === 'dead' && !(await removeStale(file, ino))) return undefined;
    const lock = holder === 'none' ? await create(file) : 'exists';
    if (lock !== 'exists') return lock;
  }
  return { pid: undefined };
}

/** Links the socket into place while it listens already, so that no process mistakes it for a dead one. */
async function create(file: string): Promise<Lock | 'exists' | undefined> {
  const draft = join(dirname(file), `.${Math.random().toString(36).slice(2)}.tau-lock`);
  let server: Server | undefined;
  try {
    server = await listen(draft);
    chmodSync(draft, MODE);
    linkSync(draft, file);
    return held(file, server);
  } catch (error) {
    server?.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'EADDRINUSE') return 'exists';
    if (isUnsupported(error)) return undefined;
    throw error;
  } finally {
    if (server) rmSync(draft, { force: true });
  }
}

function held(file: string, server: Server): Lock {
  const { ino } = statSync(file);
  let released: Promise<void> | undefined;
  const release = () => {
    try {
      // The user may have removed it, and another process may have created another one.
      if (statSync(file).ino === ino) unlinkSync(file);
    } catch {
      // Without a listener it is no lock.
    }
    return closeServer(server);
  };
  return {
    release: () => {
      released ??= release();
      return released;
    },
  };
}

/** The path of a socket may have 107 bytes only: the folder is named by its descriptor. */
function listen(path: string): Promise<Server> {
  const folder = openSync(dirname(path), O_PATH | constants.O_DIRECTORY);
  const sendPid = (socket: Socket) => {
    socket.on('error', () => undefined).unref();
    socket.end(`${process.pid}\n`, () => socket.destroy());
  };
  return listenExclusively(`/proc/self/fd/${folder}/${basename(path)}`, sendPid).finally(() => closeSync(folder));
}

interface Inspection {
  /** `closing`: its holder is releasing it. `dead`: its holder did not release it. */
  readonly holder: Holder | 'none' | 'closing' | 'dead';
  readonly ino: number;
}

async function inspect(file: string): Promise<Inspection> {
  let socket: number;
  try {
    socket = openSync(file, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if (isUnsupported(error)) return { holder: 'none', ino: 0 };
    throw error;
  }
  try {
    const { ino } = fstatSync(socket);
    const holder = await queryHolder(`/proc/self/fd/${socket}`);
    // A holder that releases its lock removes the file before it closes the socket. The descriptor reserves the inode.
    const isLeft = holder !== 'dead' || lstatSync(file, { throwIfNoEntry: false })?.ino === ino;
    return { holder: isLeft ? holder : 'closing', ino };
  } finally {
    closeSync(socket);
  }
}

function queryHolder(path: string): Promise<Holder | 'closing' | 'dead'> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let response = '';
    const settle = (holder: Holder | 'closing' | 'dead') => {
      clearTimeout(timer);
      socket.destroy();
      resolve(holder);
    };
    const timer = setTimeout(() => settle({ pid: undefined }), HOLDER_TIMEOUT_MS);
    socket.on('data', (chunk) => {
      response += chunk;
      if (response.endsWith('\n')) settle({ pid: Number.parseInt(response, 10) || undefined });
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') settle('dead');
      else settle(code === 'ECONNRESET' || code === 'EPIPE' ? 'closing' : { pid: undefined });
    });
    socket.on('close', () => settle('closing'));
  });
}

/**
 * Another process may replace a dead socket before it is removed here. So the removal of one inode is itself guarded by
 * a lock, which is named after the inode; that of a remover that died is removed the same way.
 *
 * Returns false if this user cannot remove the socket.
 */
async function removeStale(file: string, ino: number): Promise<boolean> {
  const guard = await acquire(join(dirname(file), `.${ino}.tau-lock`));
  if (!guard) return false;
  if (!('release' in guard)) {
    await new Promise((resolve) => setTimeout(resolve, REMOVAL_RETRY_MS));
    return true;
  }
  try {
    const found = await inspect(file);
    if (found.holder === 'dead' && found.ino === ino) unlinkSync(file);
    return true;
  } catch (error) {
    if (notPermittedCodes.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  } finally {
    await guard.release();
  }
}

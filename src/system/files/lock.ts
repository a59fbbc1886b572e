import { connect, createServer, type Server } from 'node:net';
import { realPath } from './real-path.ts';

const ATTEMPTS = 20;
const HOLDER_TIMEOUT_MS = 500;
// The whole of `sun_path`: Node versions pad a shorter abstract name differently and would not find each other.
const NAME_BYTES = 108;

/**
 * Acquires the exclusive right to a file among this user's processes on this machine, or throws `LockHeld`.
 *
 * The lock dies with its holder, even by SIGKILL, and does not keep the process alive. The file need not exist; every
 * symlink to it is the same lock. On Linux the name lives in the network namespace: containers that share only a
 * volume do not see each other's locks.
 */
export async function acquireLock(path: string): Promise<Lock> {
  if (process.platform !== 'linux') return (await import('./lock-file.ts')).acquireLockFile(path);
  return acquireSocket(socketName(realPath(path)), path);
}

/** Acquires the lock of an inode, whatever its name: hard links and renamed files. Only on Linux. */
export async function acquireContentLock({ dev, ino }: { dev: number; ino: number }, path: string): Promise<Lock> {
  if (process.platform !== 'linux') return { release: async () => undefined };
  return acquireSocket(socketName(`${dev}:${ino}`), path);
}

/** Returns the holder of a lock; undefined when it is free, without a pid when the holder does not respond. */
export async function lockHolder(path: string): Promise<{ readonly pid: number | undefined } | undefined> {
  if (process.platform !== 'linux') return (await import('./lock-file.ts')).lockFileHolder(path);
  const holder = await queryHolder(socketName(realPath(path)));
  return holder === 'released' ? undefined : holder;
}

async function acquireSocket(name: string, path: string): Promise<Lock> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const server = await listen(name);
    if (server) return { release: () => close(server) };
    const holder = await queryHolder(name);
    if (holder !== 'released') throw new LockHeld(path, holder.pid);
  }
  throw new LockHeld(path, undefined);
}

const socketName = (path: string) => `\0tau-lock-${process.getuid?.() ?? 0}-${hash(path)}`.padEnd(NAME_BYTES, '-');

/** FNV-1a, 64 bits: loading node:crypto would cost more than the rest of this file. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16);
}

/** The listening server, or undefined when the name is taken. */
function listen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).unref();
      socket.end(`${process.pid}\n`, () => socket.destroy());
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen({ path: name, exclusive: true }, () => {
      // From here on an error is a failed accept: that client gets no response, the lock stays.
      server.on('error', () => undefined).unref();
      resolve(server);
    });
  });
}

/** A holder that closes the connection without a response is exiting or releasing: the name is free soon. */
function queryHolder(name: string): Promise<'released' | { readonly pid: number | undefined }> {
  return new Promise((resolve) => {
    const socket = connect(name);
    let response = '';
    const settle = (holder: 'released' | { readonly pid: number | undefined }) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(holder);
    };
    const timer = setTimeout(() => settle({ pid: undefined }), HOLDER_TIMEOUT_MS);
    socket.on('data', (chunk) => {
      response += chunk;
      if (response.endsWith('\n')) settle({ pid: Number.parseInt(response, 10) || undefined });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      settle(error.code === 'EAGAIN' ? { pid: undefined } : 'released');
    });
    socket.on('close', () => settle('released'));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** The exclusive right to a file. It ends with `release` or with the process. */
export interface Lock {
  release(): Promise<void>;
}

/** Another process, or another caller in this one, holds the lock. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  /** Undefined when the holder did not respond. */
  readonly pid: number | undefined;

  constructor(path: string, pid: number | undefined) {
    super(`${path} is in use by ${pid === undefined ? 'another process' : `process ${pid}`}`);
    this.pid = pid;
  }
}

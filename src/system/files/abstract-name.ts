import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import type { Server } from 'node:net';
import { closeServer, listenExclusively } from './listen.ts';
import type { Holder, Lock } from './lock.ts';

const ATTEMPTS = 20;
// The whole of `sun_path`: Node versions pad a shorter abstract name differently and would not find each other.
const NAME_BYTES = 108;
// `__SO_ACCEPTCON` in /proc/net/unix.
const LISTENING = '00010000';

/**
 * Takes an abstract socket name, which leaves no file and is free when its holder is dead. Any user of the network
 * namespace can read and take the name: a holder without a pid may be another user.
 */
export async function acquireAbstractName(text: string): Promise<Lock | Holder> {
  const name = nameOf(text);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const server = await listen(name);
    if (server) return { release: () => closeServer(server) };
    const holder = holderOf(name);
    if (holder) return holder;
  }
  return { pid: undefined };
}

/** Returns the holder of a name, if there is one. */
export const abstractNameHolder = (text: string): Holder | undefined => holderOf(nameOf(text));

const nameOf = (text: string) => `tau-lock-${process.getuid?.() ?? 0}-${hash(text)}`.padEnd(NAME_BYTES - 1, '-');

/** FNV-1a, 64 bits: loading node:crypto would cost more than the rest of this file. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16);
}

/** The listening server, or undefined when the name is taken. */
async function listen(name: string): Promise<Server | undefined> {
  try {
    return await listenExclusively(`\0${name}`, (socket) => socket.destroy());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

/** Does not query the holder, which may be any process: searches the processes of this user for its socket. */
function holderOf(name: string): Holder | undefined {
  try {
    const inode = listeningInode(name);
    if (inode === undefined) return undefined;
    return {
      pid: readdirSync('/proc')
        .map(Number)
        .find((pid) => hasOpen(pid, `socket:[${inode}]`)),
    };
  } catch {
    // Without /proc, nothing is known about the holder.
    return { pid: undefined };
  }
}

function listeningInode(name: string): string | undefined {
  for (const line of readFileSync('/proc/net/unix', 'utf8').split('\n')) {
    const [, , , flags, , , inode, path] = line.split(' ').filter((field) => field !== '');
    if (path === `@${name}` && flags === LISTENING) return inode;
  }
  return undefined;
}

/** Whether a process is one of this user and has a file open. */
function hasOpen(pid: number, file: string): boolean {
  if (Number.isNaN(pid)) return false;
  const folder = `/proc/${pid}/fd`;
  try {
    if (statSync(folder).uid !== process.geteuid?.()) return false;
    return readdirSync(folder).some((fd) => isLinkTo(`${folder}/${fd}`, file));
  } catch {
    // It has exited, or is not visible to this user.
    return false;
  }
}

function isLinkTo(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target;
  } catch {
    return false;
  }
}

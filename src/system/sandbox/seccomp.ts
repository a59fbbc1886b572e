import { endianness } from 'node:os';

/** Choices of the filter. */
export interface FilterOptions {
  readonly unixSockets: boolean;
}

/** Numbers of the system calls that the filter judges. */
interface SystemCalls {
  readonly arch: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  /** add_key, request_key and keyctl follow each other everywhere. */
  readonly addKey: number;
  readonly keyctl: number;
  /** Calls from here on belong to another ABI of the same architecture. */
  readonly foreignFrom?: number;
}

const SYSTEM_CALLS: Readonly<Record<string, SystemCalls>> = {
  x64: {
    arch: 0xc000003e,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    addKey: 248,
    keyctl: 250,
    foreignFrom: 0x40000000,
  },
  arm64: { arch: 0xc00000b7, socket: 198, socketpair: 199, ioctl: 29, addKey: 217, keyctl: 219 },
};

// The same on every architecture.
const IO_URING_SETUP = 425;
const IO_URING_REGISTER = 427;

const AF_UNIX = 1;
const NETWORK_FAMILIES = [2, 10, 16]; // AF_INET, AF_INET6, AF_NETLINK
// The kernel makes a datagram socket of a raw Unix socket.
const DATAGRAM_TYPES = [2, 3]; // SOCK_DGRAM, SOCK_RAW
const SOCKET_TYPE_MASK = 0xf;
const TERMINAL_INPUT = [0x5412, 0x541c]; // TIOCSTI, TIOCLINUX

// Offsets in struct seccomp_data, little endian.
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number) => 16 + 8 * index;
const highHalf = (index: number) => argument(index) + 4;

// Instructions of classic BPF.
const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_OR_EQUAL = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const EPERM = 1;
const REFUSE = 0x00050000 | EPERM;

type Instruction = readonly [code: number, value: number, ifTrue?: string, ifFalse?: string];
type Line = Instruction | string;

/**
 * A seccomp filter for bwrap; undefined on an architecture without a table.
 *
 * A read-only root does not stop `connect()`: sockets of Docker, tmux or tau itself give the user's rights. Refused are
 * sockets of all families but IP and netlink, io_uring (which makes sockets past this filter), datagram pairs of Unix
 * sockets (which `connect` to any path), the user's kernel keys, and input into terminals. ptrace stays allowed for
 * debuggers: every command has a user namespace of its own, so that it traces none but its own processes.
 */
export function seccompFilter({ unixSockets }: FilterOptions, arch: string = process.arch): Buffer | undefined {
  const calls = SYSTEM_CALLS[arch];
  if (!calls || endianness() !== 'LE') return undefined;
  const families = [...NETWORK_FAMILIES, ...(unixSockets ? [AF_UNIX] : [])];
  return assemble([
    [LOAD, ARCH],
    [JUMP_EQUAL, calls.arch, 'known', 'refuse'],
    'known',
    [LOAD, NUMBER],
    ...(calls.foreignFrom === undefined ? [] : jumpsIf(JUMP_GREATER_OR_EQUAL, [calls.foreignFrom], 'refuse')),
    ...range(IO_URING_SETUP, IO_URING_REGISTER),
    ...range(calls.addKey, calls.keyctl),
    ...jumpsIf(JUMP_EQUAL, [calls.socket], 'socket'),
    ...jumpsIf(JUMP_EQUAL, [calls.ioctl], 'ioctl'),
    ...(unixSockets ? [] : jumpsIf(JUMP_EQUAL, [calls.socketpair], 'pair')),
    [RETURN, ALLOW],
    'socket',
    [LOAD, highHalf(0)],
    [JUMP_EQUAL, 0, 'family', 'refuse'],
    'family',
    [LOAD, argument(0)],
    ...jumpsIf(JUMP_EQUAL, families, 'allow'),
    [RETURN, REFUSE],
    'ioctl',
    [LOAD, argument(1)],
    ...jumpsIf(JUMP_EQUAL, TERMINAL_INPUT, 'refuse'),
    [RETURN, ALLOW],
    'pair',
    [LOAD, argument(1)],
    [AND, SOCKET_TYPE_MASK],
    ...jumpsIf(JUMP_EQUAL, DATAGRAM_TYPES, 'refuse'),
    'allow',
    [RETURN, ALLOW],
    'refuse',
    [RETURN, REFUSE],
  ]);
}

const jumpsIf = (code: number, values: readonly number[], target: string): Line[] =>
  values.map((value): Line => [code, value, target]);

/** Refuses the system calls from `first` to `last`. */
const range = (first: number, last: number): Line[] =>
  jumpsIf(
    JUMP_EQUAL,
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
    'refuse',
  );

/** Encodes `struct sock_filter`s. A jump without a target goes to the next instruction. */
function assemble(lines: readonly Line[]): Buffer {
  const labels = new Map<string, number>();
  const instructions: Instruction[] = [];
  for (const line of lines) {
    if (typeof line === 'string') labels.set(line, instructions.length);
    else instructions.push(line);
  }
  const program = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, value, ifTrue, ifFalse]] of instructions.entries()) {
    const distance = (label: string | undefined) => (label === undefined ? 0 : (labels.get(label) ?? 0) - index - 1);
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(distance(ifTrue), index * 8 + 2);
    program.writeUInt8(distance(ifFalse), index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  }
  return program;
}

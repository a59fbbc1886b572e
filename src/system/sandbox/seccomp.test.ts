import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeConfined } from '../../../test/support/sandbox/working-sandbox.ts';
import { confinedSessions, scratchFolder } from '../testing/confined.ts';
import { seccompFilter } from './seccomp.ts';

const base = scratchFolder();
const open = confinedSessions(base);
const socket = join(base, 'socket');
const server = createServer((connection) => connection.end('the rights of the user'));

beforeAll(() => new Promise<void>((listening) => void server.listen(socket, listening)));
afterAll(() => void server.close());

const connect = (path: string) =>
  `"${process.execPath}" -e "require('node:net').connect('${path}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))"`;

/** Prints the result and the error number of a system call; -1 is a failure. */
const call = (number: number | bigint, ...args: (number | bigint)[]) =>
  `perl -e '$! = 0; my $r = syscall(${[number, ...args].join(', ')}); print(($r < 0 ? "failed " : "ok ") . ($! + 0) . "\\n")'`;

const x64 = process.arch === 'x64';
const SOCKET = x64 ? 41 : 198;
const SOCKETPAIR = x64 ? 53 : 199;
const KEYCTL = x64 ? 250 : 219;
const IOCTL = x64 ? 16 : 29;
const REFUSED = 'failed 1';

const pair = (type: string) =>
  `perl -e 'my $b = "\\0" x 8; my $r = syscall(${SOCKETPAIR}, 1, ${type}, 0, $b); print(($r < 0 ? "failed " : "ok ") . ($! + 0) . "\\n")'`;

describeConfined('the filter of system calls', () => {
  it('refuses connections to Unix sockets of the host', async () => {
    const { run } = await open();

    expect((await run(connect(socket))).output).toBe('EPERM');
    expect((await run(connect('\\0abstract'))).output).toBe('EPERM');
  });

  it('allows them with unixSockets', async () => {
    const { run } = await open({ options: { unixSockets: true } });

    expect((await run(connect(socket))).output).toBe('the rights of the user');
  });

  it.each([
    ['a Unix socket', call(SOCKET, 1, 1, 0)],
    ['a Unix socket, with high bits in the family', call(SOCKET, 2n ** 32n + 1n, 1, 0)],
    ['an IP socket, with high bits in the family', call(SOCKET, 2n ** 32n + 2n, 1, 0)],
    ['a socket of the host of a virtual machine', call(SOCKET, 40, 1, 0)],
    ['a kernel crypto socket', call(SOCKET, 38, 5, 0)],
    ['a pair of datagram sockets, which connects to any path', pair('2 | 02000000')],
    ['a pair of raw sockets, which the kernel makes datagram sockets', pair('3')],
    ['io_uring', call(425, 8, 0)],
    ['io_uring_enter', call(426, 0, 0, 0, 0, 0)],
    ['keys of the user', call(KEYCTL, 0, -3, 0)],
    ['input into a terminal', call(IOCTL, 0, 0x5412, 0)],
    ['input into a terminal, with high bits in the request', call(IOCTL, 0, 2n ** 32n + 0x5412n, 0)],
    ...(x64 ? [['a call of another ABI', call(0x40000000 + 41, 1, 1, 0)]] : []),
  ] as [string, string][])('refuses %s', async (_what, attack) => {
    const { run } = await open();

    expect((await run(attack)).output).toBe(REFUSED);
  });

  it('allows IP sockets, pairs of stream sockets, and what Node, git and bash need', async () => {
    const { run } = await open();
    const fork = `"${process.execPath}" -e "const c = require('child_process').fork('-e', ['process.send(1)'], { execArgv: [] }); c.on('error', () => 0)"`;

    const { output } = await run(
      `${call(SOCKET, 2, 1, 0)}; git --version | head -c 3; echo; ${fork} 2>/dev/null; echo $(echo a | cat)`,
    );

    expect(output.split('\n')).toEqual(['ok 0', 'git', 'a']);
  });

  it.runIf(x64 && existsSync('/usr/bin/gcc'))('refuses 32-bit system calls', async () => {
    const source = join(base, 'int80.c');
    writeFileSync(
      source,
      'int main(void) { long r; int a[3] = {1, 1, 0}; __asm__ volatile("int $0x80" : "=a"(r) : "a"(359), "b"(1), "c"(1), "d"(0)); return r == -1 ? 1 : 0; }',
    );
    const program = join(base, 'int80');
    execFileSync('gcc', ['-o', program, source]);
    const { run } = await open();

    expect((await run(program)).code).toBe(1);
    rmSync(program);
  });

  it('lets a debugger trace the processes of its own command', async () => {
    const { run } = await open();

    expect((await run(call(x64 ? 101 : 117, 0, 0, 0, 0))).output).toBe('ok 0');
  });
});

describe('seccompFilter', () => {
  it('exists for x64 and arm64 only', () => {
    const options = { unixSockets: false };

    expect(
      [seccompFilter(options, 'x64'), seccompFilter(options, 'arm64')].map((filter) => (filter?.length ?? 1) % 8),
    ).toEqual([0, 0]);
    expect([seccompFilter(options, 'riscv64'), seccompFilter(options, 'ia32')]).toEqual([undefined, undefined]);
  });
});

import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { environment, type Home, type OpenOptions, scriptArgs, startAgentProcess, TAU } from '../agent/test-agent.ts';
import { untilNextPoll } from '../processes/poll.ts';
import { assertValid } from '../protocol/wire-log.ts';
import type { WireRecord } from './peer.ts';

const LF = 10;

/** A client that writes and reads bytes, and splits input at LF only. */
export class RawClient {
  readonly #input: Writable;
  readonly #chunks: Buffer[] = [];
  readonly #lines: string[] = [];
  #partialLine: Buffer[] = [];
  #ended = false;
  #wake: () => void = () => {};

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    output.on('data', (bytes: Buffer) => {
      this.#chunks.push(bytes);
      this.#split(bytes);
      this.#wake();
    });
    const end = () => {
      this.#ended = true;
      this.#wake();
    };
    output.on('end', end).on('close', end);
  }

  /** All received bytes as text. */
  get received(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  write(bytes: Uint8Array | string): void {
    this.#input.write(bytes);
  }

  /** Closes the sending side and keeps reading. */
  end(): void {
    this.#input.end();
  }

  /** Returns the next line, or undefined at the end of the connection. */
  async line(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift();
  }

  /** Returns the next record of this type. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async next(type: string): Promise<any> {
    for (let line = await this.line(); line !== undefined; line = await this.line()) {
      const record = JSON.parse(line) as WireRecord;
      assertValid(record);
      if (record.type === type) return record;
    }
    throw new Error(`The connection ended before ${type} came. Last: ${this.received.slice(-500)}`);
  }

  #split(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.#lines.push(Buffer.concat([...this.#partialLine, bytes.subarray(start, end)]).toString());
      this.#partialLine = [];
      start = end + 1;
    }
    this.#partialLine.push(bytes.subarray(start));
  }
}

/** Starts an agent on stdio and its client. Both end with the test. */
export function startRawStdio(home: Home, options: OpenOptions = {}) {
  const args = ['--mode', 'rpc', ...(options.args ?? []), ...scriptArgs(home, options.script)];
  const child = spawn(process.execPath, [TAU, ...args], { cwd: home.cwd, env: environment(home, options.env) });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { client: new RawClient(child.stdin, child.stdout), child, exited, stderr: () => stderr };
}

/** Starts an agent on a Unix socket and connects a client. */
export async function startRawUnixSocket(home: Home, options: OpenOptions = {}) {
  const path = join(home.root, 'raw.sock');
  const { process } = startAgentProcess(home, [
    '--socket',
    path,
    ...(options.args ?? []),
    ...scriptArgs(home, options.script),
  ]);
  const socket = await connectSocketWhenListening(path);
  return { client: new RawClient(socket, socket), socket, path, process };
}

/** Connects as soon as a process listens on the Unix socket. */
export async function connectSocketWhenListening(path: string): Promise<Socket> {
  while (true) {
    const socket = connect({ path, allowHalfOpen: true });
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isConnected) {
      onTestFinished(() => void socket.destroy());
      return socket.on('error', () => {});
    }
    await untilNextPoll();
  }
}

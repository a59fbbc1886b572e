import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { environment, type Home, type OpenOptions, scriptArgs, start, TAU } from './open.ts';
import type { Record_ } from './peer.ts';
import { assertValid } from './wire-log.ts';

const LF = 10;

/** A client that writes bytes and reads bytes, and knows no more of lines than that LF ends them. */
export class RawClient {
  readonly #input: Writable;
  readonly #chunks: Buffer[] = [];
  readonly #lines: string[] = [];
  #begun: Buffer[] = [];
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

  /** Everything that has come, as it came. */
  get received(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  write(bytes: Uint8Array | string): void {
    this.#input.write(bytes);
  }

  /** Says nothing more, but goes on reading. */
  end(): void {
    this.#input.end();
  }

  /** The next line; undefined when there is none any more. */
  async line(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift();
  }

  /** The next record of this type. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async next(type: string): Promise<any> {
    for (let line = await this.line(); line !== undefined; line = await this.line()) {
      const record = JSON.parse(line) as Record_;
      assertValid(record);
      if (record.type === type) return record;
    }
    throw new Error(`The connection ended before ${type} came. Last: ${this.received.slice(-500)}`);
  }

  #split(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.#lines.push(Buffer.concat([...this.#begun, bytes.subarray(start, end)]).toString());
      this.#begun = [];
      start = end + 1;
    }
    this.#begun.push(bytes.subarray(start));
  }
}

/** An agent on stdin and stdout, and its client. Both are gone after the test. */
export function rawStdio(home: Home, options: OpenOptions = {}) {
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

/** An agent on a socket, its path, and a client. */
export async function rawUnix(home: Home, options: OpenOptions = {}) {
  const path = join(home.root, 'raw.sock');
  const { process } = start(home, ['--socket', path, ...(options.args ?? []), ...scriptArgs(home, options.script)]);
  const socket = await socketAt(path);
  return { client: new RawClient(socket, socket), socket, path, process };
}

/** Connects as soon as somebody listens. */
export async function socketAt(path: string): Promise<Socket> {
  while (true) {
    const socket = connect({ path, allowHalfOpen: true });
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isConnected) {
      onTestFinished(() => void socket.destroy());
      return socket.on('error', () => {});
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

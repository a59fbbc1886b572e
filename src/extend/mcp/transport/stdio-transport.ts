import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import {
  type PipedProcess,
  type ProcessExit,
  type ProgramOptions,
  spawnPiped,
} from '../../../system/processes/process-group.ts';
import { MAX_MESSAGE_BYTES, MessageLines } from './message-lines.ts';

// How long a server may take to exit after its input has ended.
const EXIT_GRACE_MS = 1000;

// How long to wait for remaining output after the exit.
const DRAIN_MS = 500;

// The end of stderr is kept to explain an exit.
const MAX_STDERR_CHARACTERS = 1000;

/** The transport to a child process: one JSON-RPC message per line. No process outlives it. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ProgramOptions;
  readonly #lines = new MessageLines(MAX_MESSAGE_BYTES);
  #child: PipedProcess | undefined;
  #stderr = '';
  /** Characters of output that is not JSON-RPC since the last message. */
  #noise = 0;
  #failure: string | undefined;
  #isClosed = false;
  #closed: Promise<void> | undefined;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  /** Why the server ended by itself. */
  get failure(): string | undefined {
    const stderr = this.#stderr.trim();
    return this.#failure === undefined || stderr === '' ? this.#failure : `${this.#failure}: ${stderr}`;
  }

  async start(): Promise<void> {
    const child = spawnPiped(this.#options);
    this.#child = child;
    const { stdin, stdout, stderr } = child.pipes ?? {};
    if (child.pipes === undefined) this.#fail(describeExit(await child.exited));
    // Usually the process has ended, and its exit explains more.
    stdin?.on('error', () => setTimeout(() => this.#fail(NOT_READING), DRAIN_MS).unref());
    stdout?.on('error', () => {}).on('data', (bytes: Buffer) => this.#onData(bytes));
    stderr?.on('error', () => {}).setEncoding('utf8');
    stderr?.on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-MAX_STDERR_CHARACTERS);
    });
    void this.#failAtExit(child);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child?.pipes ?? {};
    if (!stdin || this.#isClosed) throw new Error('has ended');
    const line = `${JSON.stringify(message)}\n`;
    if (stdin.writableLength + line.length > MAX_MESSAGE_BYTES) this.#fail(NOT_READING);
    else if (stdin.writable) stdin.write(line);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Resolves when the child has exited. */
  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
    const child = this.#child;
    child?.pipes?.stdin.end();
    if (child) await Promise.race([child.exited, delay(EXIT_GRACE_MS)]);
    await child?.kill();
    for (const pipe of Object.values(child?.pipes ?? {})) pipe.destroy();
  }

  #fail(failure: string): void {
    if (this.#isClosed) return;
    this.#failure = failure;
    void this.close();
  }

  #onData(bytes: Buffer): void {
    if (this.#isClosed) return;
    const lines = this.#lines.push(bytes);
    if (!lines) this.#fail(`sent more than ${MAX_MESSAGE_BYTES} bytes in one line`);
    for (const line of lines ?? []) {
      const message = parseMessage(line);
      this.#noise = message ? 0 : this.#noise + line.length + NOISE_PER_LINE;
      if (this.#noise > MAX_MESSAGE_BYTES) this.#fail('prints too much output that is not JSON-RPC');
      if (message) this.onmessage?.(message);
    }
  }

  async #failAtExit({ exited, pipes }: PipedProcess): Promise<void> {
    let exit: ProcessExit | undefined;
    const exitSeen = exited.then((how) => {
      exit = how;
    });
    const stdoutClosed = whenClosed(pipes?.stdout);
    await Promise.race([exitSeen, stdoutClosed]);
    await Promise.race([Promise.all([exitSeen, stdoutClosed, whenClosed(pipes?.stderr)]), delay(DRAIN_MS)]);
    this.#fail(exit ? describeExit(exit) : 'closed its output');
  }
}

// Charged for each such line in addition to its length.
const NOISE_PER_LINE = 100;

const NOT_READING = 'does not read what it is sent';

// Output that is not JSON-RPC is skipped.
function parseMessage(line: string): JSONRPCMessage | undefined {
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    return parseJSONRPCMessage(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function describeExit({ code, signal, error }: ProcessExit): string {
  if (error) return `cannot be started (${error.code ?? error.message})`;
  return signal ? `was killed by ${signal}` : `ended with code ${code}`;
}

const whenClosed = (stream: NodeJS.ReadableStream | undefined) =>
  new Promise<void>((resolve) => {
    if (stream) stream.once('close', () => resolve());
    else resolve();
  });

const delay = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms).unref());

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { type ProcessExit, type ProgramOptions, spawnPiped, type PipedProcess } from '../../system/processes/process-group.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import { MessageLines } from './message-lines.ts';

/** How long a server may take to leave after its input has ended. */
const LEAVE_MS = 1000;

/** How long what a server said last may take to arrive after it has ended. */
const DRAIN_MS = 500;

/** How much of what a server prints to stderr is remembered, to tell why it ended. */
const MAX_REMARK_CHARACTERS = 1000;

/** A server that is a child: one message per line on its stdin and stdout. Nothing of it outlives the transport. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ProgramOptions;
  readonly #lines = new MessageLines(MAX_MESSAGE_BYTES);
  #child: PipedProcess | undefined;
  #remark = '';
  #trouble: string | undefined;
  #isOver = false;
  #ended: Promise<void> | undefined;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  /** Why it ended by itself. */
  get trouble(): string | undefined {
    const said = this.#remark.trim();
    return this.#trouble === undefined || said === '' ? this.#trouble : `${this.#trouble}: ${said}`;
  }

  async start(): Promise<void> {
    const child = spawnPiped(this.#options);
    this.#child = child;
    const { stdin, stdout, stderr } = child.pipes ?? {};
    if (child.pipes === undefined) this.#fail(endingOf(await child.exited));
    // Most of the time it has ended, and its exit says more.
    stdin?.on('error', () => setTimeout(() => this.#fail(UNREAD), DRAIN_MS).unref());
    stdout?.on('error', () => {}).on('data', (bytes: Buffer) => this.#take(bytes));
    stderr?.on('error', () => {}).setEncoding('utf8');
    stderr?.on('data', (text: string) => {
      this.#remark = `${this.#remark}${text}`.slice(-MAX_REMARK_CHARACTERS);
    });
    void this.#watch(child);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child?.pipes ?? {};
    if (!stdin || this.#isOver) throw new Error('is gone');
    const line = `${JSON.stringify(message)}\n`;
    if (stdin.writableLength + line.length > MAX_MESSAGE_BYTES) this.#fail(UNREAD);
    else if (stdin.writable) stdin.write(line);
  }

  close(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  /** Settles when the child is gone. */
  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
    const child = this.#child;
    child?.pipes?.stdin.end();
    if (child) await Promise.race([child.exited, after(LEAVE_MS)]);
    await child?.kill();
    for (const pipe of Object.values(child?.pipes ?? {})) pipe.destroy();
  }

  #fail(trouble: string): void {
    if (this.#isOver) return;
    this.#trouble = trouble;
    void this.close();
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return;
    const lines = this.#lines.push(bytes);
    if (!lines) this.#fail(`said more than ${MAX_MESSAGE_BYTES} bytes in one line`);
    for (const line of lines ?? []) {
      const message = messageIn(line);
      if (message) this.onmessage?.(message);
    }
  }

  async #watch({ exited, pipes }: PipedProcess): Promise<void> {
    let exit: ProcessExit | undefined;
    const gone = exited.then((how) => {
      exit = how;
    });
    const silent = closed(pipes?.stdout);
    await Promise.race([gone, silent]);
    await Promise.race([Promise.all([gone, silent, closed(pipes?.stderr)]), after(DRAIN_MS)]);
    this.#fail(exit ? endingOf(exit) : 'closed its output');
  }
}

const UNREAD = 'does not read what it is sent';

/** What a server says beside the protocol is passed over. */
function messageIn(line: string): JSONRPCMessage | undefined {
  try {
    return JSONRPCMessageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function endingOf({ code, signal, error }: ProcessExit): string {
  if (error) return `cannot be started (${error.code ?? error.message})`;
  return signal ? `was killed by ${signal}` : `ended with code ${code}`;
}

const closed = (stream: NodeJS.ReadableStream | undefined) =>
  new Promise<void>((resolve) => {
    if (stream) stream.once('close', () => resolve());
    else resolve();
  });

const after = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms).unref());

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { ConversationView } from '../../../src/client/view/view.ts';
import type { AgentSettledEvent, Frame } from '../../../src/protocol/generated/vocabulary.ts';

const PROGRAM = join(import.meta.dirname, '../../fixtures/remote-client.mjs');

/** State of a client process. */
export interface ClientReport {
  readonly view: ConversationView;
  /** The `agent_settled` events that it received. */
  readonly settled: readonly AgentSettledEvent[];
  /** The runs that its messages opened or joined. */
  readonly runs: readonly string[];
  /** `resume` of each `server_connected`: `new`, `ok` or `gap`. */
  readonly greetings: readonly string[];
}

/** The client was killed before it responded. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** The command failed. */
export class CommandRejected extends Error {
  override readonly name = 'Refused';
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

interface PendingRequest {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Runs a client of the published package in its own process. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #pending = new Map<number, PendingRequest>();
  #hasExited = false;
  #lastId = 0;
  #stderr = '';

  constructor(address: string, options: object) {
    this.#child = spawn(process.execPath, [PROGRAM, address, JSON.stringify(options)], { stdio: 'pipe' });
    this.#exited = once(this.#child, 'close').then(() => this.#onExit());
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    if (this.#child.stdout)
      createInterface({ input: this.#child.stdout }).on('line', (line) => this.#onResponse(JSON.parse(line)));
    onTestFinished(() => this.kill());
  }

  /** Sends a command; the client resends a message until it gets a response. */
  call<T>(call: string, params: object): Promise<T> {
    return this.#request({ call, params });
  }

  /** Sends a frame, which gets no response. */
  async send(frame: Frame): Promise<void> {
    await this.#request({ send: frame });
  }

  report(): Promise<ClientReport> {
    return this.#request({ look: true });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  #request<T>(request: object): Promise<T> {
    if (this.#hasExited) return Promise.reject(new Killed('The client is gone'));
    const id = ++this.#lastId;
    this.#child.stdin?.write(`${JSON.stringify({ id, ...request })}\n`);
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  #onResponse({ id, result, error, code, closed }: Record<string, never>): void {
    if (closed !== undefined) this.#stderr += `closed: ${closed}\n`;
    const pending = this.#pending.get(id ?? 0);
    this.#pending.delete(id ?? 0);
    if (error === undefined) pending?.resolve(result as never);
    else pending?.reject(new CommandRejected(error, code));
  }

  #onExit(): void {
    this.#hasExited = true;
    for (const { reject } of this.#pending.values()) reject(new Killed(`The client is gone ${this.#stderr}`));
    this.#pending.clear();
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { ConversationView } from '../../../src/client/view/view.ts';
import type { AgentSettledEvent, Frame } from '../../../src/protocol/generated/vocabulary.ts';

const PROGRAM = join(import.meta.dirname, '../../fixtures/remote-client.mjs');

/** What a client knows. */
export interface Sight {
  readonly view: ConversationView;
  /** The ends of runs that it heard of. */
  readonly settled: readonly AgentSettledEvent[];
  /** The runs that its own messages opened or joined. */
  readonly runs: readonly string[];
  /** How it came to the session each time: `new`, `ok` or `gap`. */
  readonly greetings: readonly string[];
}

/** The client was killed before it answered. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** The server answered, but not with success. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** A client in a process of its own, with the published program. */
export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Map<number, Waiting>();
  #isOver = false;
  #asked = 0;
  #stderr = '';

  constructor(address: string, options: object) {
    this.#child = spawn(process.execPath, [PROGRAM, address, JSON.stringify(options)], { stdio: 'pipe' });
    this.#exited = once(this.#child, 'close').then(() => this.#lose());
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    if (this.#child.stdout)
      createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(JSON.parse(line)));
    onTestFinished(() => this.kill());
  }

  /** Calls a command of the session; a message is sent again until it is answered. */
  call<T>(call: string, params: object): Promise<T> {
    return this.#ask({ call, params });
  }

  /** Sends what gets no answer. */
  async send(frame: Frame): Promise<void> {
    await this.#ask({ send: frame });
  }

  look(): Promise<Sight> {
    return this.#ask({ look: true });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  #ask<T>(what: object): Promise<T> {
    if (this.#isOver) return Promise.reject(new Killed('The client is gone'));
    const id = ++this.#asked;
    this.#child.stdin?.write(`${JSON.stringify({ id, ...what })}\n`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #hear({ id, result, error, code, closed }: Record<string, never>): void {
    if (closed !== undefined) this.#stderr += `closed: ${closed}\n`;
    const waiting = this.#waiting.get(id ?? 0);
    this.#waiting.delete(id ?? 0);
    if (error === undefined) waiting?.resolve(result as never);
    else waiting?.reject(new Refused(error, code));
  }

  #lose(): void {
    this.#isOver = true;
    for (const { reject } of this.#waiting.values()) reject(new Killed(`The client is gone ${this.#stderr}`));
    this.#waiting.clear();
  }
}

import { randomUUID } from 'node:crypto';
import { onTestFailed } from 'vitest';
import type { Frame, Result } from '../../../src/protocol/generated/vocabulary.ts';
import { ClientProcess, Killed } from './client.ts';
import { Line } from './line.ts';
import type { Plot } from './plot.ts';
import { Reference } from './reference.ts';
import { freePort, ServerProcess, TOKEN } from './server.ts';

const CLIENTS = 3;

/** Nobody waits as long as people do. */
const reconnection = { maxRetries: 1000, initialDelayMs: 30, maxDelayMs: 300, backoffMultiplier: 2 };

export type Accepted = Result<'prompt'>;

/** A client that things happen to. */
export interface Actor {
  readonly name: string;
  readonly line: Line;
  process: ClientProcess;
  /** How many of it there were. */
  lives: number;
}

/** A server, a client that nobody disturbs, and clients that everything happens to. */
export class Stage {
  readonly server: ServerProcess;
  readonly reference: Reference;
  readonly actors: readonly Actor[];
  readonly #sessionId: string;
  readonly #history: string[] = [];

  private constructor(server: ServerProcess, lines: readonly Line[], sessionId: string) {
    this.server = server;
    this.#sessionId = sessionId;
    this.reference = new Reference(this.#address(server.port), { reconnection });
    this.actors = lines.map((line, index) => ({
      name: `client ${index}`,
      line,
      process: this.#client(line),
      lives: 1,
    }));
    onTestFailed(() => void process.stderr.write(`${this.#history.join('\n')}\n`));
  }

  static async open(plot: Plot): Promise<Stage> {
    const port = await freePort();
    const lines = await Promise.all(Array.from({ length: CLIENTS }, () => Line.to(port)));
    const allowHosts = lines.map((line) => `127.0.0.1:${line.port}`);
    const server = await ServerProcess.start(plot.home, { port, agentArgs: plot.agentArgs, allowHosts });
    const stage = new Stage(server, lines, randomUUID());
    await stage.everybodyHeard();
    return stage;
  }

  /** Another client, which comes to the session as it is now. */
  newcomer(): Reference {
    return new Reference(this.#address(this.server.port), { reconnection });
  }

  /** Remembers what happened, should it be asked for in the end. */
  note(what: string): void {
    this.#history.push(`${performance.now().toFixed(0)} ${what}`);
  }

  /** Says something in the name of an actor, or of the reference where there is none. */
  async speak(
    actor: Actor | undefined,
    type: 'prompt' | 'steer' | 'follow_up',
    message: { message: string; clientMessageId: string },
  ): Promise<Accepted> {
    return actor ? actor.process.call(type, message) : this.reference.session.call(type, message);
  }

  async send(actor: Actor | undefined, frame: Frame): Promise<void> {
    if (actor) await actor.process.send(frame);
    else this.reference.session.send(frame);
  }

  /** Settles when everybody has heard what happened until now. */
  async everybodyHeard(): Promise<void> {
    const asking = this.actors.map((actor) => () => actor.process.call('get_state', {}));
    await Promise.all([() => this.reference.session.getState(), ...asking].map(untilCertain));
  }

  async replace(actor: Actor): Promise<void> {
    await actor.process.kill();
    actor.process = this.#client(actor.line);
    actor.lives++;
  }

  #client({ port }: Line): ClientProcess {
    return new ClientProcess(this.#address(port), { reconnection });
  }

  /** Of the session that the first one who comes begins. */
  #address(port: number): string {
    return `ws://127.0.0.1:${port}/session?${new URLSearchParams({ token: TOKEN, new: this.#sessionId })}`;
  }
}

/** Does something again until it is known to be done. */
export async function untilCertain<T>(work: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (!isUncertain(error)) throw error;
    }
  }
}

/** Whether it is not known if it was done: the client, or the agent, was killed meanwhile. */
const isUncertain = (error: unknown): boolean =>
  error instanceof Killed || ['internal', 'overloaded'].includes(String((error as { code?: unknown }).code));

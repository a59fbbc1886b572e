import { randomUUID } from 'node:crypto';
import { onTestFailed } from 'vitest';
import type { Frame, Result } from '../../../src/protocol/generated/vocabulary.ts';
import { ClientProcess, Killed } from './client-process.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import type { ModelScript } from './model-script.ts';
import { ReferenceClient } from './reference-client.ts';
import { freePort, ServerProcess, TOKEN } from './server-process.ts';

const CLIENT_COUNT = 3;

// Shorter delays than the defaults for people.
const reconnection = { maxRetries: 1000, initialDelayMs: 30, maxDelayMs: 300, backoffMultiplier: 2 };

export type Accepted = Result<'prompt'>;

/** A client behind a faulty proxy. */
export interface DisturbedClient {
  readonly name: string;
  readonly proxy: FaultyProxy;
  process: ClientProcess;
  /** Number of processes so far. */
  starts: number;
}

/** A server, an undisturbed reference client, and clients behind faulty proxies. */
export class FaultTestbed {
  readonly server: ServerProcess;
  readonly reference: ReferenceClient;
  readonly clients: readonly DisturbedClient[];
  readonly #sessionId: string;
  readonly #history: string[] = [];

  private constructor(server: ServerProcess, proxies: readonly FaultyProxy[], sessionId: string) {
    this.server = server;
    this.#sessionId = sessionId;
    this.reference = new ReferenceClient(this.#address(server.port), { reconnection });
    this.clients = proxies.map((proxy, index) => ({
      name: `client ${index}`,
      proxy,
      process: this.#startClient(proxy),
      starts: 1,
    }));
    onTestFailed(() => void process.stderr.write(`${this.#history.join('\n')}\n`));
  }

  static async open(script: ModelScript): Promise<FaultTestbed> {
    const port = await freePort();
    const proxies = await Promise.all(Array.from({ length: CLIENT_COUNT }, () => FaultyProxy.to(port)));
    const allowHosts = proxies.map((proxy) => `127.0.0.1:${proxy.port}`);
    const server = await ServerProcess.start(script.home, { port, agentArgs: script.agentArgs, allowHosts });
    const testbed = new FaultTestbed(server, proxies, randomUUID());
    await testbed.syncClients();
    return testbed;
  }

  /** Connects another undisturbed client to the session. */
  connectNewClient(): ReferenceClient {
    return new ReferenceClient(this.#address(this.server.port), { reconnection });
  }

  /** Logs a line, printed if the test fails. */
  log(text: string): void {
    this.#history.push(`${performance.now().toFixed(0)} ${text}`);
  }

  /** Sends a message from a client, or from the reference client when it is undefined. */
  async sendMessage(
    client: DisturbedClient | undefined,
    type: 'prompt' | 'steer' | 'follow_up',
    message: { message: string; clientMessageId: string },
  ): Promise<Accepted> {
    return client ? client.process.call(type, message) : this.reference.session.call(type, message);
  }

  async send(client: DisturbedClient | undefined, frame: Frame): Promise<void> {
    if (client) await client.process.send(frame);
    else this.reference.session.send(frame);
  }

  /** Settles when every client has received all events published so far. */
  async syncClients(): Promise<void> {
    const requests = this.clients.map((client) => () => client.process.call('get_state', {}));
    await Promise.all([() => this.reference.session.getState(), ...requests].map(retryUntilCertain));
  }

  async replace(client: DisturbedClient): Promise<void> {
    await client.process.kill();
    client.process = this.#startClient(client.proxy);
    client.starts++;
  }

  #startClient({ port }: FaultyProxy): ClientProcess {
    return new ClientProcess(this.#address(port), { reconnection });
  }

  /** Address of the session, which the first connection creates. */
  #address(port: number): string {
    return `ws://127.0.0.1:${port}/session?${new URLSearchParams({ token: TOKEN, new: this.#sessionId })}`;
  }
}

/** Repeats an operation until its outcome is known. */
export async function retryUntilCertain<T>(work: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (!isUncertain(error)) throw error;
    }
  }
}

/** Whether the operation may or may not have happened: the client or the agent was killed meanwhile. */
const isUncertain = (error: unknown): boolean =>
  error instanceof Killed || ['internal', 'overloaded'].includes(String((error as { code?: unknown }).code));

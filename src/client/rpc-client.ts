import type { AgentEvent, CommandName, Params, Result } from '../protocol/generated/vocabulary.ts';
import { parseRecord, type WireRecord } from './response.ts';
import { ConnectionLost } from './connection-lost.ts';
import { PendingCommands } from './pending-commands.ts';
import { randomUuid } from './random-uuid.ts';
import { callListener } from './call-listener.ts';
import { WebSocketClient, type WebSocketClientConfig } from './web-socket-client.ts';

type CommandOf<C extends CommandName> = C extends CommandName ? { readonly type: C } & Readonly<Params<C>> : never;

/** Any command as `sendCommand` takes it. */
export type RPCCommandWithoutId = CommandOf<CommandName>;

export type RPCEvent = AgentEvent;

/** What a command without data is answered with. */
export interface RPCSuccess {
  readonly type: 'response';
  readonly command: string;
  readonly success: true;
}

/** What `sendCommand` resolves with: the data of the answer, or the answer itself where there is none. */
export type RPCResult<C extends CommandName> = Result<C> extends undefined ? RPCSuccess : Result<C>;

/** Commands and events over a connection, as the remote session guide has them. A command waits as long as it takes. */
export class RPCClient {
  readonly #connection: WebSocketClient;
  readonly #pending = new PendingCommands();
  readonly #listeners = new Set<(event: RPCEvent) => void>();

  constructor(connection: WebSocketClient) {
    this.#connection = connection;
    connection.subscribe((event) => {
      if (event.type === 'message') for (const line of event.data.split('\n')) this.#receive(line);
      if (event.type === 'close') this.#pending.rejectAll(new ConnectionLost(event.reason));
    });
  }

  /** Hears every event from now on; the returned function stops that. */
  subscribe(listener: (event: RPCEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends a command. Rejects with `CommandFailed` when it is refused, and with `ConnectionLost` when there is no
   * connection, or none any more: whether it was done is not known then.
   */
  async sendCommand<C extends RPCCommandWithoutId>(command: C): Promise<RPCResult<C['type']>> {
    const id = randomUuid();
    this.#connection.send(JSON.stringify({ ...command, id }));
    return (await this.#pending.add(id, command.type)) as RPCResult<C['type']>;
  }

  #receive(line: string): void {
    const record = parseRecord(line);
    if (record?.['type'] === 'response') this.#pending.handleResponse(withData(record));
    else if (record) for (const listener of this.#listeners) callListener(listener, record as RPCEvent & WireRecord);
  }
}

/** A command without data is answered with the answer itself. */
const withData = (response: WireRecord): WireRecord =>
  Object.hasOwn(response, 'data') ? response : { ...response, data: response };

/** Both in one: an `RPCClient` with a connection of its own. */
export class WebSocketRPCClient extends RPCClient {
  readonly connection: WebSocketClient;

  constructor(url: string, config?: WebSocketClientConfig) {
    const connection = new WebSocketClient(url, config);
    super(connection);
    this.connection = connection;
  }

  connect(): void {
    this.connection.connect();
  }

  disconnect(): void {
    this.connection.disconnect();
  }
}

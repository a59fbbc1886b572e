import type { AgentEvent, CommandName, Params, Result } from '../../protocol/generated/vocabulary.ts';
import { callListener } from '../call-listener.ts';
import { ConnectionLost } from '../errors.ts';
import { PendingCommands, parseRecord, type WireRecord } from '../pending-commands.ts';
import { randomUuid } from '../random-uuid.ts';
import { WebSocketClient, type WebSocketClientConfig } from './web-socket-client.ts';

type CommandOf<C extends CommandName> = C extends CommandName ? { readonly type: C } & Readonly<Params<C>> : never;

/** Any command in the form that `sendCommand` takes. */
export type RPCCommandWithoutId = CommandOf<CommandName>;

export type RPCEvent = AgentEvent;

/** The result of a command whose response has no data. */
export interface RPCSuccess {
  readonly type: 'response';
  readonly command: string;
  readonly success: true;
}

/** The data of the response, or the response itself if it has none. */
export type RPCResult<C extends CommandName> = Result<C> extends undefined ? RPCSuccess : Result<C>;

/** The `RPCClient` of the remote session guide: commands and events over a `WebSocketClient`, without timeouts. */
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

  /** Calls the listener for every event from now on; the returned function stops that. */
  subscribe(listener: (event: RPCEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends a command. Rejects with `CommandFailed` when the agent rejects it, and with `ConnectionLost` without a
   * connection or when it is lost, in which case the outcome is unknown.
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

/** A response without data stands for its own data. */
const withData = (response: WireRecord): WireRecord =>
  Object.hasOwn(response, 'data') ? response : { ...response, data: response };

/** An `RPCClient` with its own connection. */
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

import type { AgentEvent, CommandName, Frame, Params, Result } from '../protocol/generated/vocabulary.ts';
import { type InputLine, toLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { BaseClient } from './base-client.ts';
import { ConnectionLost } from './errors.ts';
import { PendingCommands, parseRecord, type WireRecord } from './pending-commands.ts';

/** The client of an agent over a link. Calls have no timeout: they end with their response or `ConnectionLost`. */
export class AgentClient extends BaseClient {
  readonly #link: Link;
  readonly #pending = new PendingCommands();
  #commandCount = 0;
  /** The error that the agent reported last; it explains a connection that closes after it. */
  #lastError: string | undefined;

  constructor(link: Link) {
    super();
    this.#link = link;
    link.onLine((line) => this.#receive(line));
    link.onEnd(() => this.#disconnect(this.#lastError ?? 'The agent closed the connection'));
    link.onClose((reason) => this.#disconnect(this.#lastError ?? reason ?? 'The connection to the agent is lost'));
  }

  override call<C extends CommandName>(command: C, params: Params<C>): Promise<Result<C>> {
    if (this.lost) return Promise.reject(this.lost);
    const id = `req_${++this.#commandCount}`;
    const response = this.#pending.add(id, command);
    this.#link.write(toLine({ id, type: command, ...params }));
    return response as Promise<Result<C>>;
  }

  override send(frame: Frame): void {
    this.#link.write(toLine(frame));
  }

  override close(): void {
    this.#disconnect('The client was closed');
    this.#link.close();
  }

  #receive(line: InputLine): void {
    if (!('text' in line)) return;
    const record = parseRecord(line.text);
    if (record?.['type'] === 'response') this.#pending.handleResponse(record);
    else if (record) this.#receiveEvent(record as AgentEvent & WireRecord, line.text.length);
  }

  #receiveEvent(event: AgentEvent, length: number): void {
    if (event.type === 'server_error') this.#lastError = event.error;
    if (event.type === 'agent_exiting') this.#lastError = `The agent has ended: ${event.reason}`;
    this.handleEvent(event, length);
  }

  #disconnect(reason: string): void {
    if (this.lost) return;
    const lost = new ConnectionLost(reason);
    this.#pending.rejectAll(lost);
    this.end(lost);
  }
}

import type { AgentEvent, CommandName, Frame, Params, Result } from '../protocol/generated/vocabulary.ts';
import type { InputLine } from '../wire/json-lines.ts';
import { toLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { parseRecord, type Received } from './answer.ts';
import { AnyClient } from './any-client.ts';
import { ConnectionLost } from './connection-lost.ts';
import { OpenCalls } from './open-calls.ts';

/**
 * An agent at the other end of a link. Calls have no time limit of their own: they end with the agent's answer, or
 * with `ConnectionLost` when there will be none.
 */
export class AgentClient extends AnyClient {
  readonly #link: Link;
  readonly #calls = new OpenCalls();
  #sent = 0;
  /** What the other side said last before it may leave. */
  #complaint: string | undefined;

  constructor(link: Link) {
    super();
    this.#link = link;
    link.onLine((line) => this.#receive(line));
    link.onEnd(() => this.#lose(this.#complaint ?? 'The agent closed the connection'));
    link.onClose((reason) => this.#lose(this.#complaint ?? reason ?? 'The connection to the agent is lost'));
  }

  override call<C extends CommandName>(command: C, params: Params<C>): Promise<Result<C>> {
    if (this.lost) return Promise.reject(this.lost);
    const id = `req_${++this.#sent}`;
    const answer = this.#calls.wait(id, command);
    this.#link.write(toLine({ id, type: command, ...params }));
    return answer as Promise<Result<C>>;
  }

  override send(frame: Frame): void {
    this.#link.write(toLine(frame));
  }

  override close(): void {
    this.#lose('The client was closed');
    this.#link.close();
  }

  #receive(line: InputLine): void {
    if (!('text' in line)) return;
    const record = parseRecord(line.text);
    if (record?.['type'] === 'response') this.#calls.answered(record);
    else if (record) this.#tell(record as AgentEvent & Received, line.text.length);
  }

  #tell(event: AgentEvent, length: number): void {
    if (event.type === 'server_error') this.#complaint = event.error;
    this.hear(event, length);
  }

  #lose(reason: string): void {
    if (this.lost) return;
    const lost = new ConnectionLost(reason);
    this.#calls.lose(lost);
    this.end(lost);
  }
}

import type { ErrorCode } from '../protocol/errors.ts';
import type { AgentEvent, CommandName, Frame, Params, Result } from '../protocol/generated/vocabulary.ts';
import type { Line } from '../wire/json-lines.ts';
import { toLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { ConnectionLost } from './connection-lost.ts';
import { type CustomTool, CustomTools } from './custom-tools.ts';
import type { EventReader } from './event-reader.ts';
import { EventStream } from './event-stream.ts';
import { AgentMethods } from './generated/methods.ts';
import { type PromptRun, RunReader } from './prompt-run.ts';
import { type UiHandler, UiRequests } from './ui-requests.ts';

/** The agent said no. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly command: string;
  readonly code: ErrorCode;

  constructor(command: string, code: ErrorCode, message: string) {
    super(message);
    this.command = command;
    this.code = code;
  }
}

type Waiting = { command: string; resolve: (data: unknown) => void; reject: (error: Error) => void };

/**
 * An agent at the other end of a link. Calls have no time limit of their own: they end with the agent's answer, or
 * with `ConnectionLost` when there will be none.
 */
export class AgentClient extends AgentMethods {
  readonly #link: Link;
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  readonly #readers = new Set<EventReader>();
  readonly #closing = new Set<(error: ConnectionLost) => void>();
  readonly #tools = new CustomTools((frame) => this.send(frame));
  readonly #requests = new UiRequests((response) => this.send(response));
  #lost: ConnectionLost | undefined;
  #calls = 0;
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
    if (this.#lost) return Promise.reject(this.#lost);
    const id = `req_${++this.#calls}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { command, resolve, reject }));
    this.#link.write(toLine({ id, type: command, ...params }));
    return answer as Promise<Result<C>>;
  }

  /** Sends something that gets no answer. */
  send(frame: Frame): void {
    this.#link.write(toLine(frame));
  }

  /** Hears every event from now on; the returned function stops that. What it throws is thrown as an uncaught exception. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called once, when the agent is gone; the returned function calls that off. */
  onClose(listener: (error: ConnectionLost) => void): () => void {
    if (this.#lost) listener(this.#lost);
    else this.#closing.add(listener);
    return () => this.#closing.delete(listener);
  }

  /**
   * Every event from this moment on, none left out. Ends when the agent is gone; fails with `EventsLost` when it is left
   * unread for too long, which no listener notices.
   */
  events(): AsyncIterableIterator<AgentEvent> {
    const stream = new EventStream((reader) => this.#readers.delete(reader));
    if (this.#lost) stream.end();
    else this.#readers.add(stream);
    return stream;
  }

  /**
   * Sends a prompt and waits for the end of its run. Events are collected from before the prompt is sent. A prompt that
   * was sent before, with the same `clientMessageId`, waits for the run that serves it; if that is over, for nothing.
   */
  async promptAndWait(prompt: string | Params<'prompt'>): Promise<PromptRun> {
    const reader = new RunReader();
    this.#readers.add(reader);
    try {
      const accepted = await this.prompt(typeof prompt === 'string' ? { message: prompt } : prompt);
      return await reader.read(accepted);
    } finally {
      this.#readers.delete(reader);
    }
  }

  /** Registers tools that this program runs, and runs them when the agent asks. They take the place of all before. */
  setCustomTools(tools: readonly CustomTool[]): Promise<Result<'set_host_tools'>> {
    return this.#tools.set(tools, (definitions) => this.setHostTools({ tools: definitions }));
  }

  /**
   * Shows what extensions want shown, and answers their dialogs. The last handler is the one that is asked; the returned
   * function takes it back. Without any, nothing is answered.
   */
  onUiRequest(handler: UiHandler): () => void {
    return this.#requests.add(handler);
  }

  /** Leaves. What the agent does next is its own business. */
  close(): void {
    this.#lose('The client was closed');
    this.#link.close();
  }

  #receive(line: Line): void {
    if (!('text' in line)) return;
    const record = parse(line.text);
    if (record?.['type'] === 'response') this.#answered(record);
    else if (record) this.#tell(record as AgentEvent & typeof record, line.text.length);
  }

  #tell(event: AgentEvent, length: number): void {
    if (event.type === 'server_error') this.#complaint = event.error;
    for (const reader of this.#readers) reader.push(event, length);
    for (const listener of this.#listeners) tell(listener, event);
    this.#tools.hear(event);
    this.#requests.hear(event);
  }

  #answered(response: Record<string, unknown>): void {
    const id = String(response['id']);
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (response['success']) waiting.resolve(response['data']);
    else waiting.reject(new CommandFailed(waiting.command, response['code'] as ErrorCode, String(response['error'])));
  }

  #lose(reason: string): void {
    if (this.#lost) return;
    this.#lost = new ConnectionLost(reason);
    for (const { reject } of this.#waiting.values()) reject(this.#lost);
    this.#waiting.clear();
    for (const reader of this.#readers) reader.end(this.#lost);
    this.#tools.leave(this.#lost);
    this.#requests.leave(this.#lost);
    for (const listener of this.#closing) tell(listener, this.#lost);
  }
}

/** A listener that fails is its owner's concern: the others hear it all the same, and what comes next too. */
function tell<T>(listener: (news: T) => void, news: T): void {
  try {
    listener(news);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Lines that are no records, such as the banner of a wrapper script, mean nothing to a client. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

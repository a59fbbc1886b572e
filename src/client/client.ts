import type { ErrorCode } from '../protocol/errors.ts';
import type {
  AgentEndEvent,
  AgentEvent,
  AgentSettledEvent,
  CommandName,
  Frame,
  Params,
  Result,
} from '../protocol/generated/vocabulary.ts';
import type { Line } from '../wire/json-lines.ts';
import { toLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { ConnectionLost } from './connection-lost.ts';
import { EventStream } from './event-stream.ts';
import { AgentMethods } from './generated/methods.ts';

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

/** How a prompt went, from the answer to the end of its run. */
export interface PromptRun {
  readonly settled: AgentSettledEvent;
  /** What the run added to the conversation. */
  readonly messages: AgentEndEvent['messages'];
  readonly events: readonly AgentEvent[];
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
  readonly #closing = new Set<(error: ConnectionLost) => void>();
  #lost: ConnectionLost | undefined;
  #requests = 0;

  constructor(link: Link) {
    super();
    this.#link = link;
    link.onLine((line) => this.#receive(line));
    link.onEnd(() => this.#lose('The agent closed the connection'));
    link.onClose((reason) => this.#lose(reason ?? 'The connection to the agent is lost'));
  }

  override call<C extends CommandName>(command: C, params: Params<C>): Promise<Result<C>> {
    if (this.#lost) return Promise.reject(this.#lost);
    const id = `req_${++this.#requests}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { command, resolve, reject }));
    this.#link.write(toLine({ id, type: command, ...params }));
    return answer as Promise<Result<C>>;
  }

  /** Sends something that gets no answer. */
  send(frame: Frame): void {
    this.#link.write(toLine(frame));
  }

  /** Hears every event from now on; the returned function stops that. */
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

  /** Every event from this moment on, none left out however slowly they are read. Ends when the agent is gone. */
  events(): AsyncIterableIterator<AgentEvent> {
    const stream = new EventStream();
    const stops = [this.onEvent((event) => stream.push(event)), this.onClose(() => stream.end())];
    stream.onReturn = () => {
      for (const stop of stops) stop();
    };
    return stream;
  }

  /** Sends a prompt and waits for the end of its run. Events are collected from before the prompt is sent. */
  promptAndWait(prompt: string | Params<'prompt'>): Promise<PromptRun> {
    const params = typeof prompt === 'string' ? { message: prompt } : prompt;
    const events: AgentEvent[] = [];
    return new Promise((resolve, reject) => {
      let runId: string | undefined;
      const settle = () => {
        const end = events.findIndex((event) => event.type === 'agent_settled' && event.runId === runId);
        if (end === -1) return;
        stop();
        resolve(runOf(events.slice(0, end + 1)));
      };
      const deaf = this.onEvent((event) => {
        events.push(event);
        if (event.type === 'agent_settled') settle();
      });
      const calm = this.onClose(reject);
      const stop = () => {
        deaf();
        calm();
      };
      this.prompt(params).then(
        (accepted) => {
          runId = accepted.runId;
          if (runId === undefined) {
            stop();
            reject(new Error('The prompt was handled without a run'));
          } else settle();
        },
        (error: unknown) => {
          stop();
          reject(error);
        },
      );
    });
  }

  /** Leaves. What the agent does next is its own business. */
  close(): void {
    this.#lose('The client was closed');
    this.#link.close();
  }

  #receive(line: Line): void {
    const record = 'text' in line ? parse(line.text) : undefined;
    if (record?.['type'] === 'response') this.#answered(record);
    else if (record) for (const listener of this.#listeners) tell(listener, record as AgentEvent & typeof record);
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
    for (const listener of this.#closing) listener(this.#lost);
  }
}

/** The run that these events end with. What they tell of a run before it is left out. */
function runOf(events: readonly AgentEvent[]): PromptRun {
  const before = events.findLastIndex(({ type }, index) => type === 'agent_settled' && index < events.length - 1);
  const own = events.slice(before + 1);
  return {
    settled: own.at(-1) as AgentSettledEvent,
    messages: own.flatMap((event) => (event.type === 'agent_end' ? event.messages : [])),
    events: own,
  };
}

/** A listener that fails is its owner's concern: the others hear the event all the same, and the next ones too. */
function tell(listener: (event: AgentEvent) => void, event: AgentEvent): void {
  try {
    listener(event);
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

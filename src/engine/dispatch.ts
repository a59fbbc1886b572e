import { Refusal } from '../protocol/errors.ts';
import { commandRows } from '../protocol/generated/command-rows.ts';
import type { CommandName, Params, Result } from '../protocol/generated/vocabulary.ts';
import { type InputLine, toLine, escapeLineBreaks } from '../wire/json-lines.ts';
import { parseInbound } from '../wire/inbound.ts';
import type { Agent } from './agent.ts';
import { handlers } from './commands/table.ts';
import type { Connection } from './connection.ts';
import type { Journal } from './journal.ts';
import { JsonText } from './json-text.ts';
import type { SessionLane } from './lanes.ts';
import { LaterAnswer } from './later-answer.ts';

/** What a handler works with. */
export interface Context {
  /** What the client called its request, if it did. */
  readonly id: unknown;
  readonly agent: Agent;
  readonly connection: Connection;
  readonly lane: SessionLane;
  /** Does this once the answer is out, so that the answer precedes what it leads to. */
  readonly afterAnswer: (work: () => void) => void;
  /** Aborted by an abort that came after the command did. */
  readonly signal: AbortSignal;
}

export type Handler<C extends CommandName> = (params: Params<C>, context: Context) => Answer<C> | Promise<Answer<C>>;

type Answer<C extends CommandName> = Result<C> | LaterAnswer<Result<C>>;

export type Handlers = { readonly [C in CommandName]: Handler<C> };

interface Peers extends Omit<Context, 'id' | 'afterAnswer' | 'signal'> {
  /** Who writes down what is refused. */
  readonly journal?: Journal | undefined;
}

/** Answers one line. Every command gets exactly one answer, also when it fails; frames get none. */
export function dispatch(line: InputLine, { journal, ...peers }: Peers): void {
  const inbound = parseInbound(line);
  const { eventQueue: outbox } = peers.connection;
  const refuse = (id: unknown, command: string, refusal: Refusal) => {
    journal?.refused(command, refusal);
    outbox.send(failure(id, command, refusal));
  };
  if (inbound.kind === 'refused') refuse(inbound.id, inbound.command, inbound.refusal);
  else if (inbound.kind === 'frame') peers.agent.additions.take(inbound.frame, peers.connection);
  if ('malformed' in inbound && inbound.malformed) peers.agent.additions.takeBroken(inbound.malformed, peers.connection);
  if (inbound.kind !== 'command') return;
  const { id, name } = inbound;
  const after: (() => void)[] = [];
  const fail = (error: unknown) => refuse(id, name, Refusal.from(error));
  const succeed = (data: unknown) => {
    let line: string;
    try {
      line = success(id, name, data);
    } catch (error) {
      fail(error);
      return;
    }
    outbox.sendLine(line);
    for (const work of after) work();
  };
  const answer = (data: unknown) => (data instanceof LaterAnswer ? data.value.then(succeed, fail) : succeed(data));
  let result: unknown;
  try {
    const { signal } = peers.lane;
    result = invoke(name, inbound.params, { ...peers, id, signal, afterAnswer: (work) => after.push(work) });
  } catch (error) {
    fail(error);
    return;
  }
  if (result instanceof Promise) peers.connection.track(result.then(answer, fail));
  else succeed(result);
}

function invoke(name: CommandName, params: object, context: Context): unknown {
  // One cast, right after validation: the table pairs each name with its own parameters.
  const handler = handlers[name] as (params: object, context: Context) => unknown;
  if (commandRows[name].lane === 'session') return context.lane.run(() => handler(params, context));
  return handler(params, context);
}

function success(id: unknown, command: CommandName, data: unknown): string {
  const head = { ...withId(id), type: 'response', command, success: true };
  if (!(data instanceof JsonText)) return toLine(data === undefined ? head : { ...head, data });
  return `${JSON.stringify(head).slice(0, -1)},"data":${escapeLineBreaks(data.json)}}\n`;
}

function failure(id: unknown, command: string, { message, code, holder }: Refusal): object {
  const response = { ...withId(id), type: 'response', command, success: false, error: message, code };
  return holder === undefined ? response : { ...response, holder: { pid: holder } };
}

const withId = (id: unknown): { id?: unknown } => (id === undefined ? {} : { id });

import { Refusal } from '../protocol/errors.ts';
import { commandRows } from '../protocol/generated/command-rows.ts';
import type { CommandName, Params, Result } from '../protocol/generated/vocabulary.ts';
import { type InputLine, toLine, escapeLineBreaks } from '../wire/json-lines.ts';
import { parseInbound } from '../wire/inbound.ts';
import type { Agent } from './agent.ts';
import { handlers } from './commands/table.ts';
import type { ClientConnection } from './client-connection.ts';
import type { ActivityLog } from './activity-log.ts';
import { EncodedJson } from './encoded-json.ts';
import type { SessionLane } from './session-lane.ts';
import { DeferredResponse } from './deferred-response.ts';

/** What a handler works with. */
export interface CommandContext {
  /** What the client called its request, if it did. */
  readonly id: unknown;
  readonly agent: Agent;
  readonly connection: ClientConnection;
  readonly lane: SessionLane;
  /** Does this once the answer is out, so that the answer precedes what it leads to. */
  readonly afterResponse: (work: () => void) => void;
  /** Aborted by an abort that came after the command did. */
  readonly signal: AbortSignal;
}

export type Handler<C extends CommandName> = (params: Params<C>, context: CommandContext) => HandlerResult<C> | Promise<HandlerResult<C>>;

type HandlerResult<C extends CommandName> = Result<C> | DeferredResponse<Result<C>>;

export type Handlers = { readonly [C in CommandName]: Handler<C> };

interface DispatchTarget extends Omit<CommandContext, 'id' | 'afterResponse' | 'signal'> {
  /** Who writes down what is refused. */
  readonly activityLog?: ActivityLog | undefined;
}

/** Answers one line. Every command gets exactly one answer, also when it fails; frames get none. */
export function dispatch(line: InputLine, { activityLog, ...target }: DispatchTarget): void {
  const inbound = parseInbound(line);
  const { eventQueue: outbox } = target.connection;
  const reject = (id: unknown, command: string, refusal: Refusal) => {
    activityLog?.logRefusal(command, refusal);
    outbox.send(failure(id, command, refusal));
  };
  if (inbound.kind === 'refused') reject(inbound.id, inbound.command, inbound.refusal);
  else if (inbound.kind === 'frame') target.agent.addons.handleFrame(inbound.frame, target.connection);
  if ('malformed' in inbound && inbound.malformed) target.agent.addons.handleMalformedFrame(inbound.malformed, target.connection);
  if (inbound.kind !== 'command') return;
  const { id, name } = inbound;
  const after: (() => void)[] = [];
  const fail = (error: unknown) => reject(id, name, Refusal.from(error));
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
  const respond = (data: unknown) => (data instanceof DeferredResponse ? data.value.then(succeed, fail) : succeed(data));
  let result: unknown;
  try {
    const { signal } = target.lane;
    result = invoke(name, inbound.params, { ...target, id, signal, afterResponse: (work) => after.push(work) });
  } catch (error) {
    fail(error);
    return;
  }
  if (result instanceof Promise) target.connection.track(result.then(respond, fail));
  else succeed(result);
}

function invoke(name: CommandName, params: object, context: CommandContext): unknown {
  // One cast, right after validation: the table pairs each name with its own parameters.
  const handler = handlers[name] as (params: object, context: CommandContext) => unknown;
  if (commandRows[name].lane === 'session') return context.lane.run(() => handler(params, context));
  return handler(params, context);
}

function success(id: unknown, command: CommandName, data: unknown): string {
  const head = { ...withId(id), type: 'response', command, success: true };
  if (!(data instanceof EncodedJson)) return toLine(data === undefined ? head : { ...head, data });
  return `${JSON.stringify(head).slice(0, -1)},"data":${escapeLineBreaks(data.json)}}\n`;
}

function failure(id: unknown, command: string, { message, code, holder }: Refusal): object {
  const response = { ...withId(id), type: 'response', command, success: false, error: message, code };
  return holder === undefined ? response : { ...response, holder: { pid: holder } };
}

const withId = (id: unknown): { id?: unknown } => (id === undefined ? {} : { id });

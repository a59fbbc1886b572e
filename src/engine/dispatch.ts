import { Refusal } from '../protocol/errors.ts';
import { commandRows } from '../protocol/generated/command-rows.ts';
import type { ApprovalMode, CommandName, Frame, Params, Result } from '../protocol/generated/vocabulary.ts';
import type { InputOptions } from '../session/input/input.ts';
import { checkParams, conversationReads, parseInbound } from '../wire/inbound.ts';
import { escapeLineBreaks, type InputLine, toLine } from '../wire/json-lines.ts';
import type { ActivityLog } from './activity-log.ts';
import type { Agent } from './agent.ts';
import type { ClientConnection } from './client-connection.ts';
import { connection } from './commands/connection.ts';
import { models } from './commands/models.ts';
import { prompting } from './commands/prompting.ts';
import { runs } from './commands/runs.ts';
import { sessions } from './commands/sessions.ts';
import { tools } from './commands/tools.ts';
import { DeferredResponse, EncodedJson, SteppedResponse } from './response-data.ts';
import type { SessionLane } from './session-lane.ts';
import type { StartCommand } from './start-commands.ts';

/** Everything that a command handler uses. */
export interface CommandContext {
  /** The client's id of the command, if any. */
  readonly id: unknown;
  readonly agent: Agent;
  readonly connection: ClientConnection;
  readonly lane: SessionLane;
  /** Runs work after the response is sent, so that its events follow the response. */
  readonly afterResponse: (work: () => void) => void;
  /** Aborted by any abort that arrives after the command. */
  readonly signal: AbortSignal;
  /** How a program in this process submits a message. */
  readonly input?: Pick<InputOptions, 'source' | 'expand'> | undefined;
}

export type Handler<C extends CommandName> = (
  params: Params<C>,
  context: CommandContext,
) => HandlerResult<C> | Promise<HandlerResult<C>>;

type HandlerResult<C extends CommandName> = Result<C> | DeferredResponse<Result<C>> | SteppedResponse<Result<C>>;

export type Handlers = { readonly [C in CommandName]: Handler<C> };

// The compiler rejects a table that lacks a command.
const handlers: Handlers = { ...prompting, ...connection, ...sessions, ...models, ...runs, ...tools };

interface DispatchTarget extends Omit<CommandContext, 'id' | 'afterResponse' | 'signal'> {
  /** Logs refused commands. */
  readonly activityLog?: ActivityLog | undefined;
}

/** Handles one line. Every command gets exactly one response, also if it fails; frames get none. */
export function dispatch(line: InputLine, { activityLog, ...target }: DispatchTarget): void {
  const inbound = parseInbound(line);
  const { eventQueue } = target.connection;
  const reject = (id: unknown, command: string, refusal: Refusal) => {
    activityLog?.logRefusal(command, refusal);
    eventQueue.send(toLine(failure(id, command, refusal)));
  };
  if (inbound.kind === 'refused') reject(inbound.id, inbound.command, inbound.refusal);
  else if (inbound.kind === 'frame') handleFrame(inbound.frame, target);
  if ('malformed' in inbound && inbound.malformed)
    target.agent.addons.loaded?.handleMalformedFrame(inbound.malformed, target.connection);
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
    eventQueue.send(line);
    for (const work of after) work();
  };
  const respond = (data: unknown) =>
    data instanceof DeferredResponse ? data.value.then(succeed, fail) : succeed(data);
  const { signal } = target.lane;
  const context = { ...target, id, signal, afterResponse: (work: () => void) => after.push(work) };
  let stepped: SteppedResponse<unknown> | undefined;
  const step = (): boolean | Promise<void> => {
    try {
      const result = stepped ?? invoke(name, inbound.params, context);
      if (result instanceof Promise) {
        const responded = result.then(respond, fail);
        target.connection.track(responded);
        return responded;
      }
      stepped = result instanceof SteppedResponse ? result : undefined;
      const data = stepped ? stepped.next() : result;
      if (stepped && data === undefined) return false;
      succeed(data);
    } catch (error) {
      fail(error);
    }
    return true;
  };
  if (!conversationReads.has(name)) void step();
  else {
    const completed = target.connection.reads.run(step);
    if (completed) target.connection.track(completed);
  }
}

function handleFrame(frame: Frame, { agent, connection }: DispatchTarget): void {
  if (frame.type === 'entries_kept') agent.session.transcript.hostCopy?.confirm(frame.id);
  else agent.addons.loaded?.handleFrame(frame, connection);
}

function invoke(name: CommandName, params: object, context: CommandContext): unknown {
  // The only cast, right after validation: the table pairs each name with its own parameters.
  const handler = handlers[name] as (params: object, context: CommandContext) => unknown;
  checkAccess(name, context.agent);
  const { approvalLimit } = params as { readonly approvalLimit?: ApprovalMode };
  const work = () => context.agent.approvals.withCommandLimit(approvalLimit, () => handler(params, context));
  return runInLane({ name, params, work }, context);
}

function runInLane<R>(command: StartCommand<R>, context: CommandContext): R | Promise<R> {
  const { agent, lane } = context;
  if (commandRows[command.name].lane !== 'session') return command.work();
  return agent.isStarting ? agent.startCommands.run(command, context) : lane.run(command.work);
}

/** A command that takes more than the scope `view` may write. */
function checkAccess(name: CommandName, { isReadOnly }: Agent): void {
  if (isReadOnly && commandRows[name].scope !== 'view')
    throw new Refusal('permission_denied', `The session is open for reading only: ${name} is refused`);
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

type ExecutionTarget = Pick<CommandContext, 'agent' | 'connection' | 'lane' | 'input'>;

/**
 * Runs a command for a program in this process: validated, in its lane, like one from a client. `handler` replaces the
 * default one. Rejects with the `Refusal` that a client would receive.
 */
export async function executeCommand<C extends CommandName>(
  name: C,
  params: Params<C>,
  target: ExecutionTarget,
  handler: Handler<C> = handlers[name],
): Promise<Result<C>> {
  const refusal = checkParams(name, params);
  if (refusal) throw refusal;
  checkAccess(name, target.agent);
  const after: (() => void)[] = [];
  const context: CommandContext = {
    ...target,
    id: undefined,
    signal: target.lane.signal,
    afterResponse: (work) => void after.push(work),
  };
  const result = await runInLane({ name, params, work: () => handler(params, context) }, context);
  for (const begin of after) begin();
  if (result instanceof SteppedResponse) return result.value();
  return result instanceof DeferredResponse ? result.value : result;
}

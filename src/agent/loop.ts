import type { ModelResponse } from '../model/call-model.ts';
import type {
  AgentMessage,
  AgentStartEvent,
  AssistantMessage,
  AssistantMessageEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
  ToolResultMessage,
  TurnEndEvent,
  TurnStartEvent,
  Usage,
} from '../protocol/generated/vocabulary.ts';
import { callsOf, isBroken } from './answer.ts';
import type { AgentHooks, HookMessage, Interruption } from './hooks.ts';
import { refuseTools, runTools } from './run-tools.ts';
import type { Tool } from './tool.ts';
import { unlessAborted } from './unless-aborted.ts';

/** What the loop says. `agent_end` is the session's to say: only it knows whether the run goes on. */
export type LoopEvent =
  | AgentStartEvent
  | TurnStartEvent
  | TurnEndEvent
  | MessageStartEvent
  | MessageUpdateEvent
  | MessageEndEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent;

/** The conversation as the loop sees it. */
export interface Conversation {
  /** Asks the model about everything said so far. */
  readonly ask: () => Promise<ModelResponse>;
  readonly tools: () => readonly Tool[];
  /** What hooks want said right after the messages that open the run. */
  readonly prepare?: (() => Promise<readonly AgentMessage[]>) | undefined;
  /** Stores a message that a hook wants said; answers it as stored. All others that are handed over are stored already. */
  readonly add: (message: HookMessage) => AgentMessage;
  /** Takes the last answer out of the conversation. */
  readonly dropAnswer: () => void;
  readonly hasSteering: () => boolean;
  /** The steering messages that are due now. */
  readonly takeSteering: () => AgentMessage[];
  /** Asks for a model call; where it is not allowed, the run ends. */
  readonly claimCall: () => boolean;
  /** Between two turns, or before the run ends: makes room for what comes next, if it is to be. */
  readonly rest?: (owed: boolean) => Promise<void> | undefined;
  /** What the next turn begins with; undefined when nothing calls for one, or the model may not be asked again. */
  readonly next: (owed: boolean) => Delivery | undefined;
  /** Whether steering may skip tools that have not started. */
  readonly interruptsTools: () => boolean;
  readonly hooks: AgentHooks;
  readonly signal: AbortSignal;
}

/** Takes messages that were set aside: nobody can withdraw them any more. */
export type Delivery = () => AgentMessage[];

/**
 * Turns a conversation over until the model has nothing more to do: an answer, its tools, the answer to those, and so
 * on, taking queued messages between turns. It does no I/O of its own and never throws for a model or a tool: their
 * failures are events. The reader of the events is its clock: it goes on when the reader asks for the next one.
 */
export async function* runTurns(first: readonly AgentMessage[], talk: Conversation): AsyncGenerator<LoopEvent> {
  const isAllowed = talk.claimCall();
  const prepared = isAllowed && talk.prepare ? await talk.prepare() : [];
  yield { type: 'agent_start' };
  if (!isAllowed) {
    yield* said(first);
    return;
  }
  yield { type: 'turn_start' };
  yield* said(first);
  if (prepared.length > 0) yield* said(prepared);
  if (!talk.signal.aborted) yield* said(talk.takeSteering());
  while (true) {
    const { message, interruption } = yield* listen(talk);
    if (interruption?.discard) talk.dropAnswer();
    const { toolResults, isLast } = interruption || isBroken(message) ? NO_WORK : yield* work(message, talk);
    const wish = await consult(talk, ({ turnEnd }, signal) => turnEnd?.({ message, toolResults }, signal));
    yield { type: 'turn_end', message, toolResults };
    const owed = (toolResults.length > 0 && !isLast) || interruption !== undefined || wish?.continue === true;
    const isBrokenOff = isBroken(message) && !interruption;
    if (!isBrokenOff) await talk.rest?.(owed);
    const isOver = talk.signal.aborted || isBrokenOff;
    const next = isOver ? undefined : talk.next(owed);
    if (next) yield { type: 'turn_start' };
    yield* added([...(interruption?.messages ?? []), ...(wish?.messages ?? [])], talk);
    // What an abort finds set aside goes back to the queue.
    if (!next || talk.signal.aborted) return;
    yield* said(next());
  }
}

function* said(messages: readonly AgentMessage[]): Generator<LoopEvent> {
  for (const message of messages) {
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
  }
}

function* added(messages: readonly HookMessage[], talk: Conversation): Generator<LoopEvent> {
  for (const message of messages) yield* said([talk.add(message)]);
}

/** What a hook says, if there is one and no abort comes first. */
async function consult<T>(
  { hooks, signal }: Conversation,
  ask: (hooks: AgentHooks, signal: AbortSignal) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const answer = ask(hooks, signal);
  return answer instanceof Promise ? unlessAborted(answer, signal) : answer;
}

/** An answer, and what broke it off if something did. */
interface Heard {
  readonly message: AssistantMessage;
  readonly interruption: Interruption | undefined;
}

/** One answer of the model, told step by step. */
async function* listen(talk: Conversation): AsyncGenerator<LoopEvent, Heard> {
  const { opening, events, cancel: breakOff } = await talk.ask();
  yield { type: 'message_start', message: opening };
  const news = usageNews(opening.usage);
  let usage: Usage | undefined;
  let interruption: Interruption | undefined;
  const review = async (step: AssistantMessageEvent) => {
    if (interruption || talk.signal.aborted) return;
    interruption = await consult(talk, ({ delta }, signal) => delta?.(step, signal));
    if (interruption) breakOff(interruption.reason);
  };
  yield { type: 'message_update', assistantMessageEvent: { type: 'start' } };
  if (talk.hooks.delta) await review({ type: 'start' });
  for await (const event of events) {
    if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'end') {
      // It may have been whole, or have failed, by the time it was broken off.
      const ended = interruption ? brokenOff(event.message, interruption) : event.message;
      const message = (await consult(talk, ({ messageEnd }, signal) => messageEnd?.(ended, signal))) ?? ended;
      yield { type: 'message_update', assistantMessageEvent: ending(message), ...news(message.usage) };
      yield { type: 'message_end', message };
      return { message, interruption };
    } else {
      yield { type: 'message_update', assistantMessageEvent: event, ...news(usage) };
      usage = undefined;
      if (talk.hooks.delta) await review(event);
    }
  }
  throw new Error('The model stream ended without an end');
}

/** Answers the usage where it differs from what was told last. */
function usageNews(first: Usage) {
  let told = JSON.stringify(first);
  return (usage: Usage | undefined): { usage?: Usage } => {
    if (usage === undefined) return {};
    const text = JSON.stringify(usage);
    if (text === told) return {};
    told = text;
    return { usage };
  };
}

const brokenOff = (
  { errorCode: _, ...answer }: AssistantMessage,
  { reason: errorMessage }: Interruption,
): AssistantMessage => ({ ...answer, stopReason: 'aborted', errorMessage });

function ending(message: AssistantMessage): AssistantMessageEvent {
  const { stopReason } = message;
  return stopReason === 'error' || stopReason === 'aborted'
    ? { type: 'error', reason: stopReason, error: message }
    : { type: 'done', reason: stopReason, message };
}

/** What the tools of an answer came to, and whether they say that nothing is left to do. */
interface Work {
  readonly toolResults: ToolResultMessage[];
  readonly isLast: boolean;
}

const NO_WORK: Work = { toolResults: [], isLast: false };

/** The tools of one answer; their results are said, and so stored, in the order of the calls. */
async function* work(answer: AssistantMessage, talk: Conversation): AsyncGenerator<LoopEvent, Work> {
  const calls = callsOf(answer);
  let isLast = false;
  const results =
    answer.stopReason === 'length'
      ? yield* refuseTools(calls, CUT_OFF)
      : yield* runTools({
          calls,
          tools: talk.tools(),
          hooks: talk.hooks,
          signal: talk.signal,
          stepwise: talk.interruptsTools(),
          interrupted: talk.hasSteering,
          onLast: () => {
            isLast = true;
          },
        });
  const whole: ToolResultMessage[] = [];
  for (const result of results) {
    const message = (await consult(talk, ({ messageEnd }, signal) => messageEnd?.(result, signal))) ?? result;
    yield* said([message]);
    whole.push(message);
  }
  return { toolResults: whole, isLast };
}

const CUT_OFF = 'Not run: the answer was cut off by the length limit before the call was complete.';

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
import { toolCallsOf, isFailedOrAborted } from './tool-calls.ts';
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
  readonly callModel: () => Promise<ModelResponse>;
  readonly tools: () => readonly Tool[];
  /** What hooks want said right after the messages that open the run. */
  readonly hookMessages?: (() => Promise<readonly AgentMessage[]>) | undefined;
  /** Stores a message that a hook wants said; answers it as stored. All others that are handed over are stored already. */
  readonly storeHookMessage: (message: HookMessage) => AgentMessage;
  /** Takes the last answer out of the conversation. */
  readonly dropAssistantMessage: () => void;
  readonly hasSteering: () => boolean;
  /** The steering messages that are due now. */
  readonly takeSteering: () => AgentMessage[];
  /** Asks for a model call; where it is not allowed, the run ends. */
  readonly reserveModelCall: () => boolean;
  /** Between two turns, or before the run ends: makes room for what comes next, if it is to be. */
  readonly beforeNextTurn?: (needsTurn: boolean) => Promise<void> | undefined;
  /** What the next turn begins with; undefined when nothing calls for one, or the model may not be asked again. */
  readonly nextDelivery: (needsTurn: boolean) => Delivery | undefined;
  /** Whether steering may skip tools that have not started. */
  readonly steeringSkipsTools: () => boolean;
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
export async function* runTurns(first: readonly AgentMessage[], conversation: Conversation): AsyncGenerator<LoopEvent> {
  const mayCallModel = conversation.reserveModelCall();
  const fromHooks = mayCallModel && conversation.hookMessages ? await conversation.hookMessages() : [];
  yield { type: 'agent_start' };
  if (!mayCallModel) {
    yield* messageEvents(first);
    return;
  }
  yield { type: 'turn_start' };
  yield* messageEvents(first);
  if (fromHooks.length > 0) yield* messageEvents(fromHooks);
  if (!conversation.signal.aborted) yield* messageEvents(conversation.takeSteering());
  while (true) {
    const { message, interruption } = yield* streamModelResponse(conversation);
    if (interruption?.discard) conversation.dropAssistantMessage();
    const { toolResults, isTerminal } = interruption || isFailedOrAborted(message) ? NO_TOOLS : yield* runToolCalls(message, conversation);
    const continuation = await callHook(conversation, ({ turnEnd }, signal) => turnEnd?.({ message, toolResults }, signal));
    yield { type: 'turn_end', message, toolResults };
    const needsTurn = (toolResults.length > 0 && !isTerminal) || interruption !== undefined || continuation?.continue === true;
    const hasFailed = isFailedOrAborted(message) && !interruption;
    if (!hasFailed) await conversation.beforeNextTurn?.(needsTurn);
    const isOver = conversation.signal.aborted || hasFailed;
    const deliver = isOver ? undefined : conversation.nextDelivery(needsTurn);
    if (deliver) yield { type: 'turn_start' };
    yield* hookMessageEvents([...(interruption?.messages ?? []), ...(continuation?.messages ?? [])], conversation);
    // What an abort finds set aside goes back to the queue.
    if (!deliver || conversation.signal.aborted) return;
    yield* messageEvents(deliver());
  }
}

function* messageEvents(messages: readonly AgentMessage[]): Generator<LoopEvent> {
  for (const message of messages) {
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
  }
}

function* hookMessageEvents(messages: readonly HookMessage[], conversation: Conversation): Generator<LoopEvent> {
  for (const message of messages) yield* messageEvents([conversation.storeHookMessage(message)]);
}

/** What a hook says, if there is one and no abort comes first. */
async function callHook<T>(
  { hooks, signal }: Conversation,
  call: (hooks: AgentHooks, signal: AbortSignal) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const result = call(hooks, signal);
  return result instanceof Promise ? unlessAborted(result, signal) : result;
}

/** An answer, and what broke it off if something did. */
interface StreamedMessage {
  readonly message: AssistantMessage;
  readonly interruption: Interruption | undefined;
}

/** One answer of the model, told step by step. */
async function* streamModelResponse(conversation: Conversation): AsyncGenerator<LoopEvent, StreamedMessage> {
  const { opening, events, cancel: breakOff } = await conversation.callModel();
  yield { type: 'message_start', message: opening };
  const usageIfChanged = usageChanges(opening.usage);
  let usage: Usage | undefined;
  let interruption: Interruption | undefined;
  const checkStep = async (step: AssistantMessageEvent) => {
    if (interruption || conversation.signal.aborted) return;
    interruption = await callHook(conversation, ({ delta }, signal) => delta?.(step, signal));
    if (interruption) breakOff(interruption.reason);
  };
  yield { type: 'message_update', assistantMessageEvent: { type: 'start' } };
  if (conversation.hooks.delta) await checkStep({ type: 'start' });
  for await (const event of events) {
    if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'end') {
      // It may have been whole, or have failed, by the time it was broken off.
      const final = interruption ? withInterruption(event.message, interruption) : event.message;
      const message = (await callHook(conversation, ({ messageEnd }, signal) => messageEnd?.(final, signal))) ?? final;
      yield { type: 'message_update', assistantMessageEvent: endStep(message), ...usageIfChanged(message.usage) };
      yield { type: 'message_end', message };
      return { message, interruption };
    } else {
      yield { type: 'message_update', assistantMessageEvent: event, ...usageIfChanged(usage) };
      usage = undefined;
      if (conversation.hooks.delta) await checkStep(event);
    }
  }
  throw new Error('The model stream ended without an end');
}

/** Answers the usage where it differs from what was told last. */
function usageChanges(first: Usage) {
  let last = JSON.stringify(first);
  return (usage: Usage | undefined): { usage?: Usage } => {
    if (usage === undefined) return {};
    const text = JSON.stringify(usage);
    if (text === last) return {};
    last = text;
    return { usage };
  };
}

const withInterruption = (
  { errorCode: _, ...message }: AssistantMessage,
  { reason: errorMessage }: Interruption,
): AssistantMessage => ({ ...message, stopReason: 'aborted', errorMessage });

function endStep(message: AssistantMessage): AssistantMessageEvent {
  const { stopReason } = message;
  return stopReason === 'error' || stopReason === 'aborted'
    ? { type: 'error', reason: stopReason, error: message }
    : { type: 'done', reason: stopReason, message };
}

/** What the tools of an answer came to, and whether they say that nothing is left to do. */
interface ToolOutcome {
  readonly toolResults: ToolResultMessage[];
  readonly isTerminal: boolean;
}

const NO_TOOLS: ToolOutcome = { toolResults: [], isTerminal: false };

/** The tools of one answer; their results are said, and so stored, in the order of the calls. */
async function* runToolCalls(message: AssistantMessage, conversation: Conversation): AsyncGenerator<LoopEvent, ToolOutcome> {
  const calls = toolCallsOf(message);
  let isTerminal = false;
  const results =
    message.stopReason === 'length'
      ? yield* refuseTools(calls, TRUNCATED_CALL)
      : yield* runTools({
          calls,
          tools: conversation.tools(),
          hooks: conversation.hooks,
          signal: conversation.signal,
          sequential: conversation.steeringSkipsTools(),
          isInterrupted: conversation.hasSteering,
          onTerminate: () => {
            isTerminal = true;
          },
        });
  const messages: ToolResultMessage[] = [];
  for (const result of results) {
    const message = (await callHook(conversation, ({ messageEnd }, signal) => messageEnd?.(result, signal))) ?? result;
    yield* messageEvents([message]);
    messages.push(message);
  }
  return { toolResults: messages, isTerminal };
}

const TRUNCATED_CALL = 'Not run: the answer was cut off by the length limit before the call was complete.';

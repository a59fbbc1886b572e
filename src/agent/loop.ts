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
  UserMessage,
} from '../protocol/generated/vocabulary.ts';
import type { AgentHooks, HookMessage, Interruption } from './hooks.ts';
import type { Permit } from './permission.ts';
import { refuseTools, runTools } from './run-tools.ts';
import type { Tool } from './tool.ts';
import { isFailedOrAborted, toolCallsOf } from './tool-calls.ts';
import { unlessAborted } from './unless-aborted.ts';

/** Events of the loop. The session sends `agent_end`, because only the session decides whether the run continues. */
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

/** The session as the loop uses it. */
export interface Conversation {
  /** Calls the model with the conversation so far. */
  readonly callModel: () => Promise<ModelResponse>;
  readonly tools: () => readonly Tool[];
  /** Tools that tools may call; by default those of the model. */
  readonly callableTools?: (() => readonly Tool[]) | undefined;
  /** Messages that hooks add right after the messages that open the run. */
  readonly hookMessages?: (() => Promise<readonly AgentMessage[]>) | undefined;
  /** Stores a message of a hook and returns the stored message. All other messages are already stored. */
  readonly storeHookMessage: (message: HookMessage) => AgentMessage;
  /** Replaces the content of a stored user message in the conversation. */
  readonly rewordUserMessage: (message: UserMessage, replacement: UserMessage) => void;
  /** Removes the last assistant message from the conversation. */
  readonly dropAssistantMessage: () => void;
  /** Decides whether a call may run; absent, or undefined when it is read: every call may. */
  readonly permit?: (() => Permit | undefined) | undefined;
  /** Settles when tools may run: their calls are stored. */
  readonly beforeTools?: (() => Promise<void>) | undefined;
  readonly hasSteering: () => boolean;
  /** Removes the due steering messages from the queue and returns them. */
  readonly takeSteering: () => AgentMessage[];
  /** Reserves one model call; false ends the run. */
  readonly reserveModelCall: () => boolean;
  /** Runs between two turns and before the run ends; may compact the conversation. */
  readonly beforeNextTurn?: (needsTurn: boolean) => Promise<void> | undefined;
  /** Messages for the next turn; undefined if no turn is due or no model call is left. */
  readonly nextDelivery: (needsTurn: boolean) => Delivery | undefined;
  /** True: steering skips tool calls that have not started. */
  readonly steeringSkipsTools: () => boolean;
  readonly hooks: AgentHooks;
  readonly signal: AbortSignal;
}

/** Takes reserved messages; from then on no client can withdraw them. */
export type Delivery = () => AgentMessage[];

/**
 * Repeats turns (a model call and its tools) until the model requests no more tools, with queued messages between
 * turns. Does no I/O and never throws for a model or a tool: their failures are events. The loop advances only when its
 * reader pulls the next event.
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
  yield* deliveryEvents(first, conversation);
  if (fromHooks.length > 0) yield* messageEvents(fromHooks);
  if (!conversation.signal.aborted) yield* deliveryEvents(conversation.takeSteering(), conversation);
  while (true) {
    const { message, interruption } = yield* streamModelResponse(conversation);
    if (interruption?.discard) conversation.dropAssistantMessage();
    const { toolResults, isTerminal } =
      interruption || isFailedOrAborted(message) ? NO_TOOLS : yield* runToolCalls(message, conversation);
    const continuation = await callHook(conversation, ({ turnEnd }, signal) =>
      turnEnd?.({ message, toolResults }, signal),
    );
    yield { type: 'turn_end', message, toolResults };
    const needsTurn =
      (toolResults.length > 0 && !isTerminal) || interruption !== undefined || continuation?.continue === true;
    const hasFailed = isFailedOrAborted(message) && !interruption;
    if (!hasFailed) await conversation.beforeNextTurn?.(needsTurn);
    const isOver = conversation.signal.aborted || hasFailed;
    const deliver = isOver ? undefined : conversation.nextDelivery(needsTurn);
    if (deliver) yield { type: 'turn_start' };
    yield* hookMessageEvents([...(interruption?.messages ?? []), ...(continuation?.messages ?? [])], conversation);
    // After an abort, reserved messages return to the queue.
    if (!deliver || conversation.signal.aborted) return;
    yield* deliveryEvents(deliver(), conversation);
  }
}

/** Events of messages that a run takes; hooks may reword those of users. */
async function* deliveryEvents(
  messages: readonly AgentMessage[],
  conversation: Conversation,
): AsyncGenerator<LoopEvent> {
  for (const message of messages) {
    yield { type: 'message_start', message };
    yield { type: 'message_end', message: message.role === 'user' ? await reworded(message, conversation) : message };
  }
}

async function reworded(message: UserMessage, conversation: Conversation): Promise<UserMessage> {
  const replacement = await callHook(conversation, ({ messageEnd }, signal) => messageEnd?.(message, signal));
  if (!replacement) return message;
  conversation.rewordUserMessage(message, replacement);
  return replacement;
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

/** Calls a hook; returns undefined if the hook is absent or an abort comes first. */
async function callHook<T>(
  { hooks, signal }: Conversation,
  call: (hooks: AgentHooks, signal: AbortSignal) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const result = call(hooks, signal);
  return result instanceof Promise ? unlessAborted(result, signal) : result;
}

/** An assistant message, and the interruption that ended it. */
interface StreamedMessage {
  readonly message: AssistantMessage;
  readonly interruption: Interruption | undefined;
}

/** Streams one model response as events. */
async function* streamModelResponse(conversation: Conversation): AsyncGenerator<LoopEvent, StreamedMessage> {
  const { opening, thinkingLevel, events, cancel } = await conversation.callModel();
  const startedAt = performance.now();
  const usageIfChanged = usageChanges(opening.usage);
  let usage: Usage | undefined;
  let interruption: Interruption | undefined;
  const checkStep = async (step: AssistantMessageEvent) => {
    if (interruption || conversation.signal.aborted) return;
    interruption = await callHook(conversation, ({ delta }, signal) => delta?.(step, signal));
    if (interruption) cancel(interruption.reason);
  };
  let isOpen = false;
  for await (const event of events) {
    if (event.type === 'response') {
      isOpen = true;
      yield { type: 'message_start', message: opening };
      yield { type: 'message_update', assistantMessageEvent: { type: 'start' } };
      if (conversation.hooks.delta) await checkStep({ type: 'start' });
    } else if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'end') {
      // The response may have completed or failed before the interruption.
      const ended = interruption ? withInterruption(event.message, interruption) : event.message;
      const final = { ...ended, thinkingLevel, durationMs: Math.round(performance.now() - startedAt) };
      if (!isOpen) yield { type: 'message_start', message: final };
      const message = (await callHook(conversation, ({ messageEnd }, signal) => messageEnd?.(final, signal))) ?? final;
      if (isOpen)
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

/** Returns the usage only if it differs from the previously published usage. */
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

/** Results of a message's tool calls; `isTerminal` if all of them requested the end of the run. */
interface ToolOutcome {
  readonly toolResults: ToolResultMessage[];
  readonly isTerminal: boolean;
}

const NO_TOOLS: ToolOutcome = { toolResults: [], isTerminal: false };

/** Runs the tool calls of one message and publishes (and so stores) the results in call order. */
async function* runToolCalls(
  message: AssistantMessage,
  conversation: Conversation,
): AsyncGenerator<LoopEvent, ToolOutcome> {
  const calls = toolCallsOf(message);
  if (calls.length > 0) await conversation.beforeTools?.();
  let isTerminal = false;
  const results =
    message.stopReason === 'length'
      ? yield* refuseTools(calls, TRUNCATED_CALL)
      : yield* runTools({
          calls,
          tools: conversation.tools(),
          callable: conversation.callableTools,
          hooks: conversation.hooks,
          permit: conversation.permit,
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

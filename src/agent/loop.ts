import type { Answer } from '../model/stream.ts';
import type {
  AgentMessage,
  AgentStartEvent,
  AssistantMessage,
  AssistantMessageEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
  ToolCall,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
  ToolResultMessage,
  TurnEndEvent,
  TurnStartEvent,
  Usage,
} from '../protocol/generated/vocabulary.ts';
import type { AgentHooks } from './hooks.ts';
import { refuseTools, runTools } from './run-tools.ts';
import type { Tool } from './tool.ts';

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

/** The conversation as the loop sees it. Whatever is handed over is stored already. */
export interface Conversation {
  /** Asks the model about everything said so far. */
  readonly ask: () => Promise<Answer>;
  readonly tools: () => readonly Tool[];
  readonly hasSteering: () => boolean;
  /** The steering messages that are due now. */
  readonly takeSteering: () => AgentMessage[];
  readonly hasFollowUps: () => boolean;
  readonly takeFollowUps: () => AgentMessage[];
  /** Whether steering may skip tools that have not started. */
  readonly interruptsTools: () => boolean;
  /** Whether another model call is allowed; a reason ends the run. */
  readonly mayContinue: () => boolean;
  readonly hooks: AgentHooks;
  readonly signal: AbortSignal;
}

/**
 * Turns a conversation over until the model has nothing more to do: an answer, its tools, the answer to those, and so
 * on, taking queued messages between turns. It does no I/O of its own and never throws for a model or a tool: their
 * failures are events. The reader of the events is its clock: it goes on when the reader asks for the next one.
 */
export async function* converse(first: readonly AgentMessage[], talk: Conversation): AsyncGenerator<LoopEvent> {
  yield { type: 'agent_start' };
  yield { type: 'turn_start' };
  yield* said(first);
  yield* said(talk.takeSteering());
  while (true) {
    const answer = yield* listen(talk);
    const calls = answer.content.filter((block) => block.type === 'toolCall');
    const done = answer.stopReason === 'error' || answer.stopReason === 'aborted';
    const toolResults = done ? [] : yield* work(answer, calls, talk);
    await talk.hooks.turnEnd?.(answer, toolResults);
    yield { type: 'turn_end', message: answer, toolResults };
    if (done || talk.signal.aborted || !talk.mayContinue()) return;
    const followsUp = calls.length === 0 && !talk.hasSteering();
    if (followsUp && !talk.hasFollowUps()) return;
    yield { type: 'turn_start' };
    yield* said(followsUp ? talk.takeFollowUps() : talk.takeSteering());
  }
}

function* said(messages: readonly AgentMessage[]): Generator<LoopEvent> {
  for (const message of messages) {
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
  }
}

/** One answer of the model, told step by step. */
async function* listen(talk: Conversation): AsyncGenerator<LoopEvent, AssistantMessage> {
  const { opening, events } = await talk.ask();
  yield { type: 'message_start', message: opening };
  yield { type: 'message_update', assistantMessageEvent: { type: 'start' } };
  let told = JSON.stringify(opening.usage);
  const news = (usage: Usage | undefined) => {
    const text = JSON.stringify(usage);
    if (usage === undefined || text === told) return {};
    told = text;
    return { usage };
  };
  let usage: Usage | undefined;
  for await (const event of events) {
    if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'end') {
      const message = await finished(event.message, talk);
      yield { type: 'message_update', assistantMessageEvent: ending(message), ...news(message.usage) };
      yield { type: 'message_end', message };
      return message;
    } else {
      yield { type: 'message_update', assistantMessageEvent: event, ...news(usage) };
      usage = undefined;
    }
  }
  throw new Error('The model stream ended without an end');
}

async function finished(whole: AssistantMessage, talk: Conversation): Promise<AssistantMessage> {
  const replaced = await talk.hooks.messageEnd?.(whole);
  return replaced?.role === 'assistant' ? replaced : whole;
}

function ending(message: AssistantMessage): AssistantMessageEvent {
  const { stopReason } = message;
  return stopReason === 'error' || stopReason === 'aborted'
    ? { type: 'error', reason: stopReason, error: message }
    : { type: 'done', reason: stopReason, message };
}

/** The tools of one answer; their results are said, and so stored, in the order of the calls. */
async function* work(
  answer: AssistantMessage,
  calls: readonly ToolCall[],
  talk: Conversation,
): AsyncGenerator<LoopEvent, ToolResultMessage[]> {
  if (calls.length === 0) return [];
  const results =
    answer.stopReason === 'length'
      ? yield* refuseTools(calls, 'Not run: the answer was cut off by the length limit before the call was complete.')
      : yield* runTools({
          calls,
          tools: talk.tools(),
          hooks: talk.hooks,
          signal: talk.signal,
          stepwise: talk.interruptsTools(),
          interrupted: talk.hasSteering,
        });
  yield* said(results);
  return results;
}

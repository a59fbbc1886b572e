import { formatToolUpdate } from '../../../protocol/events/tool-output.ts';
import type { RunEvent } from '../../../session/hooks.ts';
import type { HandlerRunner } from './call-handlers.ts';

/** Forwards the events of a run to the extensions in pi's shapes; awaits nothing if there is no handler. */
export function forwardRunEvent(event: RunEvent, runner: HandlerRunner): Promise<void> | undefined {
  const { turnCounter } = runner;
  turnCounter.apply(event, { withSteps: runner.handles('message_update') });
  switch (event.type) {
    case 'turn_start':
      return notifyCopy(runner, { type: event.type, turnIndex: turnCounter.turn, timestamp: Date.now() });
    case 'turn_end':
      // The `turnEnd` hook has called the handlers already.
      turnCounter.turn++;
      return undefined;
    case 'message_update':
      return forwardDelta(event, runner);
    case 'message_end':
      // The `messageEnd` hook has called the handlers for all other messages.
      return event.message.role === 'custom' ? notifyCopy(runner, event) : undefined;
    case 'agent_settled':
      runner.runSystemPrompt = undefined;
      return notifyCopy(runner, event);
    case 'message_start':
      // The `messageEnd` hook has sent the start of a tool result already.
      return event.message.role === 'toolResult' && runner.handles('message_end')
        ? undefined
        : notifyCopy(runner, event);
    case 'agent_start':
    case 'agent_end':
    case 'tool_execution_start':
    case 'tool_execution_end':
      return notifyCopy(runner, event);
    case 'tool_execution_update':
      return notifyCopy(runner, formatToolUpdate('cumulative', event));
    default:
      return event satisfies never;
  }
}

/** Calls the handlers with a copy, so that they cannot change the original. */
export function notifyCopy(
  runner: HandlerRunner,
  event: Parameters<HandlerRunner['notify']>[0],
): Promise<void> | undefined {
  return runner.handles(event.type) ? runner.notify(structuredClone(event)) : undefined;
}

function forwardDelta(
  { assistantMessageEvent }: Extract<RunEvent, { type: 'message_update' }>,
  runner: HandlerRunner,
): Promise<void> | undefined {
  const { partialMessage } = runner.turnCounter;
  const isDelta = !['start', 'done', 'error'].includes(assistantMessageEvent.type);
  if (!partialMessage || !isDelta || !runner.handles('message_update')) return undefined;
  return runner.notify({
    type: 'message_update',
    message: partialMessage,
    assistantMessageEvent: { ...assistantMessageEvent, partial: partialMessage },
  });
}

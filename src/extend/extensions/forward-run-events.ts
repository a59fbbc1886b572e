import type { RunEvent } from '../../session/hooks.ts';
import type { HandlerRunner } from './call-handlers.ts';

/** Tells extensions what a run says, in pi's shapes; nothing is awaited where nobody listens. */
export function forwardRunEvent(event: RunEvent, runner: HandlerRunner): Promise<void> | undefined {
  const { turnCounter } = runner;
  turnCounter.apply(event, { withSteps: runner.handles('message_update') });
  switch (event.type) {
    case 'turn_start':
      return notifyCopy(runner, { type: event.type, turnIndex: turnCounter.turn, timestamp: Date.now() });
    case 'turn_end':
      // Its handlers have had their say in the hook of that name.
      turnCounter.turn++;
      return undefined;
    case 'message_update':
      return forwardDelta(event, runner);
    case 'message_end':
      // Those of the agent itself went through the hook of that name.
      return event.message.role === 'assistant' || event.message.role === 'toolResult'
        ? undefined
        : notifyCopy(runner, event);
    case 'agent_settled':
      runner.runSystemPrompt = undefined;
      return notifyCopy(runner, event);
    case 'message_start':
      // That of a result was told before its end, which has a hook of its own.
      return event.message.role === 'toolResult' && runner.handles('message_end') ? undefined : notifyCopy(runner, event);
    case 'agent_start':
    case 'agent_end':
    case 'tool_execution_start':
    case 'tool_execution_update':
    case 'tool_execution_end':
      return notifyCopy(runner, event);
    default:
      return event satisfies never;
  }
}

/** A copy: what handlers do to it is nothing to anybody else. */
export function notifyCopy(runner: HandlerRunner, event: Parameters<HandlerRunner['notify']>[0]): Promise<void> | undefined {
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

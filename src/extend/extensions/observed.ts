import type { RunEvent } from '../../session/hooks.ts';
import type { Callers } from './callers.ts';

/** Tells extensions what a run says, in pi's shapes; nothing is awaited where nobody listens. */
export function observed(event: RunEvent, callers: Callers): Promise<void> | undefined {
  const { progress } = callers;
  progress.note(event, { withSteps: callers.hears('message_update') });
  switch (event.type) {
    case 'turn_start':
      return heard(callers, { type: event.type, turnIndex: progress.turn, timestamp: Date.now() });
    case 'turn_end':
      // Its handlers have had their say in the hook of that name.
      progress.turn++;
      return undefined;
    case 'message_update':
      return step(event, callers);
    case 'message_end':
      // Those of the agent itself went through the hook of that name.
      return event.message.role === 'assistant' || event.message.role === 'toolResult'
        ? undefined
        : heard(callers, event);
    case 'agent_settled':
      callers.runPrompt = undefined;
      return heard(callers, event);
    case 'message_start':
      // That of a result was told before its end, which has a hook of its own.
      return event.message.role === 'toolResult' && callers.hears('message_end') ? undefined : heard(callers, event);
    case 'agent_start':
    case 'agent_end':
    case 'tool_execution_start':
    case 'tool_execution_update':
    case 'tool_execution_end':
      return heard(callers, event);
    default:
      return event satisfies never;
  }
}

/** A copy: what handlers do to it is nothing to anybody else. */
export function heard(callers: Callers, event: Parameters<Callers['tell']>[0]): Promise<void> | undefined {
  return callers.hears(event.type) ? callers.tell(structuredClone(event)) : undefined;
}

function step(
  { assistantMessageEvent }: Extract<RunEvent, { type: 'message_update' }>,
  callers: Callers,
): Promise<void> | undefined {
  const { answer } = callers.progress;
  const isDelta = !['start', 'done', 'error'].includes(assistantMessageEvent.type);
  if (!answer || !isDelta || !callers.hears('message_update')) return undefined;
  return callers.tell({
    type: 'message_update',
    message: answer,
    assistantMessageEvent: { ...assistantMessageEvent, partial: answer },
  });
}

import type { AgentHooks, HookMessage } from '../../../agent/hooks.ts';
import type { MadeCall } from '../../../agent/nested-calls.ts';
import type { AgentMessage, AssistantMessage } from '../../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../../session/hooks.ts';
import { EditablePrompt } from '../api/prompt-options.ts';
import type { ExtensionHost } from '../host.ts';
import { type BoundaryCall, continuationAt, toCustomMessage, turnEntryIds } from './boundary.ts';
import type { HandlerRunner } from './call-handlers.ts';
import { forwardRunEvent, notifyCopy } from './forward-run-events.ts';
import { providerHooks } from './provider-hooks.ts';
import { parseMessages, plainCopy } from './validate-results.ts';

/** The run hooks of the extensions. A hook without a handler is absent. */
export function runHooks(runner: HandlerRunner, host: ExtensionHost): SessionHooks {
  const hooks: { -readonly [N in keyof SessionHooks]: SessionHooks[N] } = {};
  if (runner.handles('context')) hooks.context = (messages) => rewriteContext(runner, host, messages);
  Object.assign(hooks, providerHooks(runner, host));
  if (runner.handles('tool_call')) hooks.toolCall = (call) => decideToolCall(runner, call);
  if (runner.handles('tool_result')) hooks.toolResult = (ended) => reviewResult(runner, ended);
  if (runner.handles('message_end')) hooks.messageEnd = (message) => rewriteMessage(runner, message);
  if (runner.handles('turn_end')) {
    hooks.turnEnd = ({ message, toolResults }, signal) =>
      continuationAt(
        { host, runner, signal },
        {
          type: 'turn_end',
          turnIndex: runner.turnCounter.turn,
          ...structuredClone({ message, toolResults: [...toolResults] }),
          ...turnEntryIds(host.session()),
          outcome: outcomeOf(message),
        },
      );
  }
  if (runner.handles('agent_before_settle')) {
    hooks.beforeSettle = ({ outcome }, signal) =>
      continuationAt(
        { host, runner, signal },
        {
          type: 'agent_before_settle',
          outcome: outcome === 'ok' || outcome === 'budget' ? 'completed' : outcome,
        },
      );
  }
  if (runner.handles('before_agent_start'))
    hooks.beforeAgentStart = (start, signal) => beforeAgentStart({ host, runner, signal }, start);
  hooks.observe = (event) => forwardRunEvent(event, runner);
  return hooks;
}

const outcomeOf = ({ stopReason }: AssistantMessage) =>
  stopReason === 'error' || stopReason === 'aborted' ? stopReason : 'completed';

// As in pi, handlers may also change the messages in place; the result is validated before it is sent.
async function rewriteContext(
  runner: HandlerRunner,
  host: ExtensionHost,
  messages: AgentMessage[],
): Promise<readonly AgentMessage[]> {
  let rewritten = messages;
  const event = { type: 'context' as const, messages: structuredClone(messages) };
  for await (const result of runner.results(event)) {
    if (result.messages) event.messages = result.messages;
  }
  try {
    rewritten = parseMessages(plainCopy(event.messages));
  } catch (error) {
    host.reportFailure('<runtime>', 'context', error);
  }
  return rewritten;
}

type ToolCallHook = NonNullable<AgentHooks['toolCall']>;

// A handler that blocks or throws stops the tool call.
async function decideToolCall(runner: HandlerRunner, call: Parameters<ToolCallHook>[0]): ReturnType<ToolCallHook> {
  const input = structuredClone(call.arguments) as Record<string, unknown>;
  const event = { type: 'tool_call', toolName: call.name, toolCallId: call.id, input, ...parentOf(call) } as const;
  for await (const { block, reason, terminate } of runner.decisions(event)) {
    if (block) return { block: reason || 'Tool execution was blocked', ...(terminate ? { terminate } : {}) };
  }
  // Handlers may have changed the arguments.
  return { args: plainCopy(event.input) };
}

const parentOf = ({ parentToolCallId }: MadeCall) => (parentToolCallId === undefined ? {} : { parentToolCallId });

type ToolResultHook = NonNullable<AgentHooks['toolResult']>;

async function reviewResult(runner: HandlerRunner, ended: Parameters<ToolResultHook>[0]): ReturnType<ToolResultHook> {
  const { call, args, result: original } = ended;
  const event = {
    type: 'tool_result' as const,
    toolName: call.name,
    toolCallId: call.id,
    ...structuredClone({ input: { ...args }, content: original.content, details: original.details }),
    ...structuredClone({ structuredContent: original.structuredContent, usage: original.usage }),
    isError: original.isError,
    ...parentOf(call),
  };
  let changed = original;
  for await (const change of runner.results(event)) {
    changed = { ...changed, ...change };
    Object.assign(event, structuredClone(change));
  }
  return changed;
}

async function rewriteMessage<M extends AgentMessage>(runner: HandlerRunner, message: M): Promise<M | undefined> {
  if (message.role === 'toolResult') await notifyCopy(runner, { type: 'message_start', message });
  const event = { type: 'message_end' as const, message: structuredClone(message) };
  let changed: M | undefined;
  for await (const result of runner.results(event)) {
    if (!result.message) continue;
    changed = result.message as M;
    event.message = structuredClone(changed);
  }
  return changed;
}

async function beforeAgentStart(
  { host, runner, signal }: BoundaryCall,
  start: Parameters<NonNullable<SessionHooks['beforeAgentStart']>>[0],
): Promise<{ messages: HookMessage[]; systemPrompt?: string }> {
  const messages: HookMessage[] = [];
  const prompt = new EditablePrompt(host.session(), start.systemPrompt);
  const event = { ...startEvent(start.messages), systemPrompt: '', systemPromptOptions: prompt.options };
  let last = start.systemPrompt;
  // Handlers may have set options of any type.
  const currentPrompt = () => {
    try {
      last = prompt.text;
    } catch (error) {
      host.reportFailure('<runtime>', 'before_agent_start', error);
    }
    return last;
  };
  Object.defineProperty(event, 'systemPrompt', { enumerable: true, get: currentPrompt });
  for await (const result of runner.results(event)) {
    if (result.message) messages.push(toCustomMessage(result.message));
    if (result.systemPrompt !== undefined) prompt.options.forceSystemPrompt = result.systemPrompt;
  }
  const systemPrompt = currentPrompt();
  if (systemPrompt === start.systemPrompt || signal.aborted) return { messages };
  runner.runSystemPrompt = systemPrompt;
  return { messages, systemPrompt };
}

function startEvent(opening: readonly AgentMessage[]) {
  const message = structuredClone(opening.find(({ role }) => role === 'user') ?? opening[0]);
  const content = message && 'content' in message ? message.content : [];
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const images = blocks.filter((block) => block.type === 'image');
  return {
    type: 'before_agent_start' as const,
    prompt: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    messageType: message?.role === 'custom' ? ('custom' as const) : ('user' as const),
    ...(images.length > 0 ? { images } : {}),
    ...(message?.role === 'custom' ? { message } : {}),
  };
}

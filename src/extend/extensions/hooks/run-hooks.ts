import type { AgentHooks, Continuation, HookMessage } from '../../../agent/hooks.ts';
import type { AgentMessage, CustomMessage } from '../../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../../session/hooks.ts';
import { sessionPromptOptions, withSections } from '../api/prompt-options.ts';
import type { CustomMessageDraft, ExtensionEntryDraft, ExtensionEvent, SystemPromptOptions } from '../events.ts';
import type { ExtensionHost } from '../host.ts';
import type { HandlerRunner } from './call-handlers.ts';
import { forwardRunEvent, notifyCopy } from './forward-run-events.ts';
import { parseMessages, plainCopy } from './validate-results.ts';

/** The run hooks of the extensions. A hook without a handler is absent. */
export function runHooks(runner: HandlerRunner, host: ExtensionHost): SessionHooks {
  const hooks: { -readonly [N in keyof SessionHooks]: SessionHooks[N] } = {};
  if (runner.handles('context')) hooks.context = (messages) => rewriteContext(runner, host, messages);
  if (runner.handles('before_provider_request')) hooks.payload = (payload) => rewritePayload(runner, payload);
  if (runner.handles('tool_call')) hooks.toolCall = (call) => decideToolCall(runner, call);
  if (runner.handles('tool_result')) hooks.toolResult = (ended) => reviewResult(runner, ended);
  if (runner.handles('message_end')) hooks.messageEnd = (message) => rewriteMessage(runner, message);
  if (runner.handles('turn_end')) {
    hooks.turnEnd = ({ message, toolResults }, signal) =>
      continuationFrom(
        { host, runner, signal },
        {
          type: 'turn_end',
          turnIndex: runner.turnCounter.turn,
          ...structuredClone({ message, toolResults: [...toolResults] }),
          entries: [],
          continue: false,
        },
      );
  }
  if (runner.handles('agent_before_settle')) {
    hooks.beforeSettle = ({ outcome }, signal) =>
      continuationFrom(
        { host, runner, signal },
        {
          type: 'agent_before_settle',
          outcome: outcome === 'ok' || outcome === 'budget' ? 'completed' : outcome,
          entries: [],
          continue: false,
        },
      );
  }
  if (runner.handles('before_agent_start'))
    hooks.beforeAgentStart = (start, signal) => beforeAgentStart({ host, runner, signal }, start);
  hooks.observe = (event) => forwardRunEvent(event, runner);
  return hooks;
}

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

async function rewritePayload(runner: HandlerRunner, payload: unknown): Promise<unknown> {
  const event = { type: 'before_provider_request' as const, payload };
  for await (const result of runner.results(event)) event.payload = result;
  return plainCopy(event.payload);
}

type ToolCallHook = NonNullable<AgentHooks['toolCall']>;

// A handler that blocks or throws stops the tool call.
async function decideToolCall(runner: HandlerRunner, call: Parameters<ToolCallHook>[0]): ReturnType<ToolCallHook> {
  const input = structuredClone(call.arguments) as Record<string, unknown>;
  const event = { type: 'tool_call', toolName: call.name, toolCallId: call.id, input } as const;
  for await (const { block, reason } of runner.decisions(event)) {
    if (block) return { block: reason || 'Tool execution was blocked' };
  }
  // Handlers may have changed the arguments.
  return { args: plainCopy(event.input) };
}

type ToolResultHook = NonNullable<AgentHooks['toolResult']>;

async function reviewResult(runner: HandlerRunner, ended: Parameters<ToolResultHook>[0]): ReturnType<ToolResultHook> {
  const { call, args, result: original } = ended;
  const event = {
    type: 'tool_result' as const,
    toolName: call.name,
    toolCallId: call.id,
    ...structuredClone({ input: { ...args }, content: original.content, details: original.details }),
    isError: original.isError,
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

interface HookCall {
  readonly host: ExtensionHost;
  readonly runner: HandlerRunner;
  readonly signal: AbortSignal;
}

// Entries of all handlers are stored together, and not after an abort: the session may have changed.
async function continuationFrom(
  { host, runner, signal }: HookCall,
  event: ExtensionEvent<'turn_end' | 'agent_before_settle'>,
): Promise<Continuation | undefined> {
  const drafts: ExtensionEntryDraft[] = [];
  let shouldContinue = false;
  for await (const result of runner.results(event)) {
    if (signal.aborted) return undefined;
    drafts.push(...(result.entries ?? []));
    shouldContinue ||= result.continue === true;
  }
  const messages = drafts.flatMap((draft) => storeDraft(draft, host));
  return messages.length > 0 || shouldContinue ? { messages, continue: shouldContinue } : undefined;
}

// Stores an entry, or returns the message to send.
function storeDraft(draft: ExtensionEntryDraft, host: ExtensionHost): HookMessage[] {
  if (draft.type === 'custom_message') return [toCustomMessage(draft)];
  const { log, transcript } = host.session();
  if (draft.type === 'custom' || log.has(draft.targetId)) transcript.append(draft);
  return [];
}

async function beforeAgentStart(
  { host, runner, signal }: HookCall,
  start: Parameters<NonNullable<SessionHooks['beforeAgentStart']>>[0],
): Promise<{ messages: HookMessage[]; systemPrompt?: string }> {
  const messages: HookMessage[] = [];
  const systemPromptOptions = sessionPromptOptions(host.session());
  const event = { ...startEvent(start.messages, start.systemPrompt), systemPromptOptions };
  let prompt = start.systemPrompt;
  for await (const result of runner.results(event)) {
    if (result.message) messages.push(toCustomMessage(result.message));
    prompt = result.systemPrompt ?? prompt;
    event.systemPrompt = prompt;
  }
  const systemPrompt = withValidSections(prompt, systemPromptOptions);
  if (systemPrompt === start.systemPrompt || signal.aborted) return { messages };
  runner.runSystemPrompt = systemPrompt;
  return { messages, systemPrompt };
}

// Handlers may have set sections of any type.
function withValidSections(prompt: string, options: SystemPromptOptions): string {
  try {
    return withSections(prompt, options);
  } catch {
    return prompt;
  }
}

function startEvent(opening: readonly AgentMessage[], systemPrompt: string) {
  const message = structuredClone(opening.find(({ role }) => role === 'user') ?? opening[0]);
  const content = message && 'content' in message ? message.content : [];
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const images = blocks.filter((block) => block.type === 'image');
  return {
    type: 'before_agent_start' as const,
    prompt: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    systemPrompt,
    messageType: message?.role === 'custom' ? ('custom' as const) : ('user' as const),
    ...(images.length > 0 ? { images } : {}),
    ...(message?.role === 'custom' ? { message } : {}),
  };
}

/** The session message for a custom message of an extension. */
export const toCustomMessage = ({ customType, content, display, details }: CustomMessageDraft): CustomMessage => ({
  role: 'custom',
  customType,
  content,
  display,
  ...(details === undefined ? {} : { details }),
  timestamp: Date.now(),
});

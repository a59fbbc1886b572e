import type { AgentHooks, Continuation, HookMessage } from '../../agent/hooks.ts';
import type { AgentMessage, CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import { conversation, plainCopy } from './answers.ts';
import type { Callers } from './callers.ts';
import type { EntryDraft, PromptOptions, SaidByExtension, Told } from './events.ts';
import type { ExtensionHost } from './host.ts';
import { heard, observed } from './observed.ts';
import { promptOptions, withSections } from './prompt-options.ts';

/** How extensions step into a run. Only those hooks are there that somebody listens to. */
export function runHooks(callers: Callers, host: ExtensionHost): SessionHooks {
  const hooks: { -readonly [N in keyof SessionHooks]: SessionHooks[N] } = {};
  if (callers.hears('context')) hooks.context = (messages) => rewritten(callers, host, messages);
  if (callers.hears('before_provider_request')) hooks.payload = (payload) => changedPayload(callers, payload);
  if (callers.hears('tool_call')) hooks.toolCall = (call) => permission(callers, call);
  if (callers.hears('tool_result')) hooks.toolResult = (ended) => review(callers, ended);
  if (callers.hears('message_end')) hooks.messageEnd = (message) => lastForm(callers, message);
  if (callers.hears('turn_end')) {
    hooks.turnEnd = ({ message, toolResults }, signal) =>
      wishes(
        { host, callers, signal },
        {
          type: 'turn_end',
          turnIndex: callers.progress.turn,
          ...structuredClone({ message, toolResults: [...toolResults] }),
          entries: [],
          continue: false,
        },
      );
  }
  if (callers.hears('agent_before_settle')) {
    hooks.beforeSettle = ({ outcome }, signal) =>
      wishes(
        { host, callers, signal },
        {
          type: 'agent_before_settle',
          outcome: outcome === 'ok' || outcome === 'budget' ? 'completed' : outcome,
          entries: [],
          continue: false,
        },
      );
  }
  if (callers.hears('before_agent_start'))
    hooks.beforeAgentStart = (start, signal) => beginning({ host, callers, signal }, start);
  hooks.observe = (event) => observed(event, callers);
  return hooks;
}

/** What handlers change in place counts here, as in pi: the messages are theirs. It is looked at before it is sent. */
async function rewritten(
  callers: Callers,
  host: ExtensionHost,
  messages: AgentMessage[],
): Promise<readonly AgentMessage[]> {
  let good = messages;
  const event = { type: 'context' as const, messages: structuredClone(messages) };
  for await (const answer of callers.answers(event)) {
    if (answer.messages) event.messages = answer.messages;
  }
  try {
    good = conversation(plainCopy(event.messages));
  } catch (error) {
    host.failed('<runtime>', 'context', error);
  }
  return good;
}

async function changedPayload(callers: Callers, payload: unknown): Promise<unknown> {
  const event = { type: 'before_provider_request' as const, payload };
  for await (const answer of callers.answers(event)) event.payload = answer;
  return plainCopy(event.payload);
}

type ToolCallHook = NonNullable<AgentHooks['toolCall']>;

/** A call may go ahead unless somebody blocks it. One who fails to say blocks it, too. */
async function permission(callers: Callers, call: Parameters<ToolCallHook>[0]): ReturnType<ToolCallHook> {
  const input = structuredClone(call.arguments) as Record<string, unknown>;
  const event = { type: 'tool_call', toolName: call.name, toolCallId: call.id, input } as const;
  for await (const { block, reason } of callers.verdicts(event)) {
    if (block) return { block: reason || 'Tool execution was blocked' };
  }
  // They may have changed the arguments.
  return { args: plainCopy(event.input) };
}

type ToolResultHook = NonNullable<AgentHooks['toolResult']>;

async function review(callers: Callers, ended: Parameters<ToolResultHook>[0]): ReturnType<ToolResultHook> {
  const { call, args, result } = ended;
  const event = {
    type: 'tool_result' as const,
    toolName: call.name,
    toolCallId: call.id,
    ...structuredClone({ input: { ...args }, content: result.content, details: result.details }),
    isError: result.isError,
  };
  let changed = result;
  for await (const answer of callers.answers(event)) {
    changed = { ...changed, ...answer };
    Object.assign(event, structuredClone(answer));
  }
  return changed;
}

async function lastForm<M extends AgentMessage>(callers: Callers, message: M): Promise<M | undefined> {
  if (message.role === 'toolResult') await heard(callers, { type: 'message_start', message });
  const event = { type: 'message_end' as const, message: structuredClone(message) };
  let changed: M | undefined;
  for await (const answer of callers.answers(event)) {
    if (!answer.message) continue;
    changed = answer.message as M;
    event.message = structuredClone(changed);
  }
  return changed;
}

interface Asked {
  readonly host: ExtensionHost;
  readonly callers: Callers;
  readonly signal: AbortSignal;
}

/** What handlers want is stored together, and not when an abort came first: the session may be another one by then. */
async function wishes(
  { host, callers, signal }: Asked,
  event: Told<'turn_end' | 'agent_before_settle'>,
): Promise<Continuation | undefined> {
  const drafts: EntryDraft[] = [];
  let goesOn = false;
  for await (const wish of callers.answers(event)) {
    if (signal.aborted) return undefined;
    drafts.push(...(wish.entries ?? []));
    goesOn ||= wish.continue === true;
  }
  const messages = drafts.flatMap((draft) => kept(draft, host));
  return messages.length > 0 || goesOn ? { messages, continue: goesOn } : undefined;
}

/** Stores what a handler wants in the session; answers what it wants said. */
function kept(draft: EntryDraft, host: ExtensionHost): HookMessage[] {
  if (draft.type === 'custom_message') return [customMessage(draft)];
  const { log, transcript } = host.session();
  if (draft.type === 'custom' || log.has(draft.targetId)) transcript.append(draft);
  return [];
}

async function beginning(
  { host, callers, signal }: Asked,
  start: Parameters<NonNullable<SessionHooks['beforeAgentStart']>>[0],
): Promise<{ messages: HookMessage[]; systemPrompt?: string }> {
  const messages: HookMessage[] = [];
  const systemPromptOptions = promptOptions(host.session());
  const event = { ...startEvent(start.messages, start.systemPrompt), systemPromptOptions };
  let prompt = start.systemPrompt;
  for await (const answer of callers.answers(event)) {
    if (answer.message) messages.push(customMessage(answer.message));
    prompt = answer.systemPrompt ?? prompt;
    event.systemPrompt = prompt;
  }
  const systemPrompt = sectioned(prompt, systemPromptOptions);
  if (systemPrompt === start.systemPrompt || signal.aborted) return { messages };
  callers.runPrompt = systemPrompt;
  return { messages, systemPrompt };
}

/** Handlers may have put anything there. */
function sectioned(prompt: string, options: PromptOptions): string {
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

/** What an extension wants said, as a message. */
export const customMessage = ({ customType, content, display, details }: SaidByExtension): CustomMessage => ({
  role: 'custom',
  customType,
  content,
  display,
  ...(details === undefined ? {} : { details }),
  timestamp: Date.now(),
});

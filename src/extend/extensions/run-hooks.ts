import type { AgentHooks, Continuation, HookMessage } from '../../agent/hooks.ts';
import type { AgentMessage, AssistantMessage, CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { RunEvent, SessionHooks } from '../../session/hooks.ts';
import type { Callers } from './callers.ts';
import type { EntryDraft, SaidByExtension, Told } from './events.ts';
import type { ExtensionHost } from './host.ts';

/** How extensions step into a run. Only those hooks are there that somebody listens to. */
export function runHooks(callers: Callers, host: ExtensionHost): SessionHooks {
  const hooks: { -readonly [N in keyof SessionHooks]: SessionHooks[N] } = {};
  const progress = new Progress();
  if (callers.hears('context')) hooks.context = (messages) => rewritten(callers, messages);
  if (callers.hears('before_provider_request')) hooks.payload = (payload) => changedPayload(callers, payload);
  if (callers.hears('tool_call')) hooks.toolCall = (call) => permission(callers, call);
  if (callers.hears('tool_result')) hooks.toolResult = (ended) => review(callers, ended);
  if (callers.hears('message_end')) hooks.messageEnd = (message) => lastForm(callers, message);
  if (callers.hears('turn_end')) {
    hooks.turnEnd = ({ message, toolResults }) =>
      wishes(host, callers, {
        type: 'turn_end',
        turnIndex: progress.turn,
        message,
        toolResults: [...toolResults],
        entries: [],
        continue: false,
      });
  }
  if (callers.hears('agent_before_settle')) {
    hooks.beforeSettle = ({ outcome }) =>
      wishes(host, callers, {
        type: 'agent_before_settle',
        outcome: outcome === 'ok' || outcome === 'budget' ? 'completed' : outcome,
        entries: [],
        continue: false,
      });
  }
  if (callers.hears('before_agent_start')) hooks.beforeAgentStart = (start) => beginning(callers, start);
  hooks.observe = (event) => {
    progress.note(event, callers.hears('message_update') ? host.fold : undefined);
    if (event.type === 'agent_settled') callers.runPrompt = undefined;
    return told(event, { callers, progress });
  };
  return hooks;
}

/** Where the run is: pi counts the turns, and shows an answer whole after each step. */
class Progress {
  turn = 0;
  answer: AssistantMessage | undefined;

  note(event: RunEvent, fold: ExtensionHost['fold'] | undefined): void {
    if (event.type === 'agent_start') this.turn = 0;
    else if (event.type === 'message_start' && event.message.role === 'assistant') this.answer = event.message;
    else if (event.type === 'message_update' && this.answer && fold) {
      this.answer = fold(this.answer, event.assistantMessageEvent);
    }
  }
}

function told(
  event: RunEvent,
  { callers, progress }: { callers: Callers; progress: Progress },
): Promise<void> | undefined {
  switch (event.type) {
    case 'agent_start':
      return heard(callers, event);
    case 'agent_end':
      return heard(callers, { type: event.type, messages: [...event.messages] });
    case 'agent_settled':
      return heard(callers, event);
    case 'turn_start':
      return heard(callers, { type: event.type, turnIndex: progress.turn, timestamp: Date.now() });
    case 'turn_end':
      // Its handlers have had their say in the hook of that name.
      progress.turn++;
      return undefined;
    case 'message_start':
      // That of a result was told before its end was, which has a hook of its own.
      return event.message.role === 'toolResult' && callers.hears('message_end') ? undefined : heard(callers, event);
    case 'message_update':
      return step(event, callers, progress);
    case 'message_end':
      return event.message.role === 'assistant' || event.message.role === 'toolResult'
        ? undefined
        : heard(callers, event);
    case 'tool_execution_start':
    case 'tool_execution_update':
    case 'tool_execution_end':
      return heard(callers, event);
    default:
      return event satisfies never;
  }
}

function heard(callers: Callers, event: Parameters<Callers['tell']>[0]): Promise<void> | undefined {
  return callers.hears(event.type) ? callers.tell(event) : undefined;
}

function step(
  { assistantMessageEvent }: Extract<RunEvent, { type: 'message_update' }>,
  callers: Callers,
  { answer }: Progress,
): Promise<void> | undefined {
  const isDelta = !['start', 'done', 'error'].includes(assistantMessageEvent.type);
  if (!answer || !isDelta || !callers.hears('message_update')) return undefined;
  return callers.tell({
    type: 'message_update',
    message: answer,
    assistantMessageEvent: { ...assistantMessageEvent, partial: answer },
  });
}

async function rewritten(callers: Callers, messages: AgentMessage[]): Promise<AgentMessage[]> {
  const event = { type: 'context' as const, messages };
  for await (const answer of callers.answers(event)) {
    if (Array.isArray(answer.messages)) event.messages = answer.messages;
  }
  return event.messages;
}

async function changedPayload(callers: Callers, payload: unknown): Promise<unknown> {
  const event = { type: 'before_provider_request' as const, payload };
  for await (const answer of callers.answers(event)) event.payload = answer;
  return event.payload;
}

/** A call may go ahead unless somebody blocks it. One who fails to say blocks it, too. */
const permission: (
  callers: Callers,
  call: Parameters<NonNullable<AgentHooks['toolCall']>>[0],
) => ReturnType<NonNullable<AgentHooks['toolCall']>> = async (callers, call) => {
  const input = structuredClone(call.arguments) as Record<string, unknown>;
  const event = { type: 'tool_call', toolName: call.name, toolCallId: call.id, input } as const;
  for await (const { block, reason } of callers.verdicts(event)) {
    if (block) return { block: reason || 'Tool execution was blocked' };
  }
  return { args: event.input };
};

const review: (
  callers: Callers,
  ended: Parameters<NonNullable<AgentHooks['toolResult']>>[0],
) => ReturnType<NonNullable<AgentHooks['toolResult']>> = async (callers, { call, args, result }) => {
  const event = {
    type: 'tool_result' as const,
    toolName: call.name,
    toolCallId: call.id,
    input: { ...args },
    content: result.content,
    details: result.details,
    isError: result.isError,
  };
  for await (const { content, details, isError } of callers.answers(event)) {
    if (Array.isArray(content)) event.content = content;
    if (details !== undefined) event.details = details;
    event.isError = isError ?? event.isError;
  }
  return { content: event.content, details: event.details, isError: event.isError };
};

async function lastForm<M extends AgentMessage>(callers: Callers, message: M): Promise<M | undefined> {
  if (message.role === 'toolResult') await heard(callers, { type: 'message_start', message });
  const event = { type: 'message_end' as const, message };
  for await (const answer of callers.answers(event)) {
    // A message stays what it is; only what it says may change.
    if (answer.message?.role === message.role) event.message = answer.message as M;
  }
  return event.message;
}

async function wishes(
  host: ExtensionHost,
  callers: Callers,
  event: Told<'turn_end' | 'agent_before_settle'>,
): Promise<Continuation | undefined> {
  const messages: HookMessage[] = [];
  let goesOn = false;
  for await (const wish of callers.answers(event)) {
    for (const draft of wish.entries ?? []) messages.push(...kept(draft, host));
    goesOn ||= wish.continue === true;
  }
  return messages.length > 0 || goesOn ? { messages, continue: goesOn } : undefined;
}

/** Stores what a handler wants in the session; answers what it wants said. */
function kept(draft: EntryDraft, host: ExtensionHost): HookMessage[] {
  if (draft.type === 'custom_message') return [customMessage(draft)];
  host.session().transcript.append(draft);
  return [];
}

async function beginning(
  callers: Callers,
  start: Parameters<NonNullable<SessionHooks['beforeAgentStart']>>[0],
): Promise<{ messages: HookMessage[]; systemPrompt?: string }> {
  const messages: HookMessage[] = [];
  const event = startEvent(start.messages, start.systemPrompt);
  for await (const answer of callers.answers(event)) {
    if (answer.message) messages.push(customMessage(answer.message));
    event.systemPrompt = answer.systemPrompt ?? event.systemPrompt;
  }
  const { systemPrompt } = event;
  if (systemPrompt === start.systemPrompt) return { messages };
  callers.runPrompt = systemPrompt;
  return { messages, systemPrompt };
}

function startEvent(opening: readonly AgentMessage[], systemPrompt: string) {
  const message = opening.find(({ role }) => role === 'user') ?? opening[0];
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

export const customMessage = ({ customType, content, display, details }: SaidByExtension): CustomMessage => ({
  role: 'custom',
  customType: String(customType),
  content,
  display: display !== false,
  ...(details === undefined ? {} : { details }),
  timestamp: Date.now(),
});

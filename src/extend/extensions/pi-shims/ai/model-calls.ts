import { callModel } from '../../../../model/call-model.ts';
import { type DraftStep, emptyAssistantMessage } from '../../../../model/draft.ts';
import { streamTimeouts } from '../../../../model/endpoint.ts';
import { withRedactedErrors } from '../../../../model/keys/redact-errors.ts';
import { loadApiAdapter } from '../../../../model/providers/api-adapters.ts';
import type { TranscriptMessage } from '../../../../model/registry/provider-config.ts';
import type { ModelRegistry } from '../../../../model/registry/registry.ts';
import type { ModelMessage, ModelRequest, Provider, ToolSpec } from '../../../../model/request.ts';
import { nearestLevel } from '../../../../model/thinking-levels.ts';
import { messageOf } from '../../../../protocol/errors.ts';
import { version } from '../../../../protocol/generated/version.ts';
import type {
  AssistantBlock,
  AssistantMessage,
  AssistantMessageEvent,
  Model,
  ThinkingLevel,
} from '../../../../protocol/generated/vocabulary.ts';
import { AssistantMessageEventStream } from './event-stream.ts';
import { getEnvApiKey } from './models.ts';
import { getCurrentSystemPrompt, getCurrentTools, normalizeContext } from './transcript.ts';

/** A conversation in pi-ai's shape: prompt and tools are fields, or parts of system messages. */
export interface Context {
  readonly systemPrompt?: string | undefined;
  readonly messages: readonly TranscriptMessage[];
  readonly tools?: readonly ToolSpec[] | undefined;
}

export interface ModelCallOptions {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly maxTokens?: number | undefined;
  readonly reasoning?: ThinkingLevel | undefined;
  readonly thinkingBudgets?: ModelRequest['thinkingBudgets'] | undefined;
  readonly sessionId?: string | undefined;
  /** Gets the body before it is posted, and may return a replacement. */
  readonly onPayload?: ((payload: unknown, model: Model) => unknown) | undefined;
}

export interface ModelAccess {
  readonly agentDir: string;
  readonly registry?: ModelRegistry | undefined;
}

/** pi-ai's functions that call models of one API kind, or of any. */
export interface ModelStreams {
  stream(model: Model, context: Context, options?: ModelCallOptions): AssistantMessageEventStream;
  streamSimple(model: Model, context: Context, options?: ModelCallOptions): AssistantMessageEventStream;
}

/** Creates pi-ai's functions for model calls. A failure is reported in the assistant message, never thrown. */
export function createModelCalls(
  access: ModelAccess,
  ownApi: (api: string) => ModelStreams | undefined = () => undefined,
) {
  const stream: ModelStreams['stream'] = (model, context, options = {}) =>
    start(
      model,
      () =>
        ownApi(model.api)?.streamSimple(model, normalizeContext(context), options) ??
        openModel({ model, context, options, provider: () => registeredProvider(model, options, access) }),
    );
  const complete = (model: Model, context: Context, options?: ModelCallOptions): Promise<AssistantMessage> =>
    stream(model, context, options).result();
  return { stream, streamSimple: stream, complete, completeSimple: complete };
}

/** Calls of one API kind at the address of the model, whatever provider the model belongs to. */
export function createApiStreams(api: string, access: ModelAccess): ModelStreams {
  const stream: ModelStreams['stream'] = (model, context, options = {}) =>
    start(model, () =>
      openModel({ model, context, options, provider: () => apiProvider(api, { model, options, access }) }),
    );
  return { stream, streamSimple: stream };
}

/** Returns a stream at once and forwards the events that `open` provides; its failure ends the stream. */
export function start(
  model: Model,
  open: () => AsyncIterable<AssistantMessageEvent> | Promise<AsyncIterable<AssistantMessageEvent>>,
) {
  const events = new AssistantMessageEventStream();
  void forward(events, open).catch((error: unknown) => {
    const failed = { ...emptyAssistantMessage(model), stopReason: 'error' as const, errorMessage: messageOf(error) };
    events.push({ type: 'error', reason: 'error', error: failed });
  });
  return events;
}

async function forward(
  events: AssistantMessageEventStream,
  open: () => AsyncIterable<AssistantMessageEvent> | Promise<AsyncIterable<AssistantMessageEvent>>,
): Promise<void> {
  for await (const event of await open()) events.push(event);
  events.end();
}

interface ModelCall {
  readonly model: Model;
  readonly context: Context;
  readonly options: ModelCallOptions;
  readonly provider: () => Promise<Provider>;
}

async function* openModel(call: ModelCall): AsyncGenerator<AssistantMessageEvent> {
  const { opening, events: steps } = callModel(await call.provider(), requestOf(call));
  const partial = { ...opening };
  for await (const step of steps) {
    if (step.type === 'response') yield { type: 'start', partial };
    else if (step.type === 'end') yield lastEvent(step.message);
    else if (step.type === 'usage') partial.usage = step.usage;
    else {
      applyStep(partial, step);
      yield { ...step, partial };
    }
  }
}

function lastEvent(message: AssistantMessage): AssistantMessageEvent {
  const { stopReason } = message;
  if (stopReason === 'error' || stopReason === 'aborted') return { type: 'error', reason: stopReason, error: message };
  return { type: 'done', reason: stopReason, message };
}

async function registeredProvider(model: Model, options: ModelCallOptions, access: ModelAccess): Promise<Provider> {
  const { registry } = access;
  if (registry?.find(model.provider, model.id)) return registry.provider(model, options.signal);
  if (model.provider === 'tau') {
    const { scriptedProvider } = await import('../../../../model/scripted/player.ts');
    return scriptedProvider({});
  }
  return apiProvider(model.api, { model, options, access });
}

async function apiProvider(
  api: string,
  { model, options, access }: { model: Model; options: ModelCallOptions; access: ModelAccess },
): Promise<Provider> {
  const adapter = await loadApiAdapter({ ...model, api }, { agentDir: access.agentDir });
  const endpoint = {
    baseUrl: (model.baseUrl ?? '').replace(/\/+$/, ''),
    apiKey: options.apiKey ?? getEnvApiKey(model.provider),
    headers: { 'user-agent': `tau/${version}`, ...model.headers, ...options.headers } as Record<string, string>,
    timeouts: streamTimeouts({}),
  };
  return withRedactedErrors(adapter(endpoint), endpoint);
}

function requestOf({ model, context, options }: ModelCall): ModelRequest {
  const { sessionId, maxTokens, thinkingBudgets, onPayload, signal = new AbortController().signal } = options;
  const { messages } = normalizeContext(context);
  return {
    model,
    thinkingLevel: nearestLevel(model, options.reasoning ?? 'off'),
    systemPrompt: getCurrentSystemPrompt(messages),
    messages: messages.filter((message): message is ModelMessage => message.role !== 'system'),
    tools: getCurrentTools(messages),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(thinkingBudgets === undefined ? {} : { thinkingBudgets }),
    ...(onPayload ? { onPayload: async (payload: unknown) => onPayload(payload, model) } : {}),
    signal,
  };
}

/** Applies one streaming step to a partial message in place, so that every reader of the message sees it. */
function applyStep({ content }: AssistantMessage, step: DraftStep): void {
  const at = step.contentIndex;
  switch (step.type) {
    case 'text_start':
      content[at] = { type: 'text', text: '' };
      return;
    case 'text_delta':
      content[at] = { type: 'text', text: textSoFar(content[at]) + step.delta };
      return;
    case 'text_end':
      content[at] = { type: 'text', text: step.content };
      return;
    case 'thinking_start':
      content[at] = { type: 'thinking', thinking: '' };
      return;
    case 'thinking_delta':
      content[at] = { type: 'thinking', thinking: textSoFar(content[at]) + step.delta };
      return;
    case 'thinking_end':
      content[at] = { type: 'thinking', thinking: step.content };
      return;
    case 'toolcall_start':
      content[at] = { type: 'toolCall', id: step.id, name: step.toolName, arguments: {} };
      return;
    case 'toolcall_end':
      content[at] = step.toolCall;
      return;
    default:
      // Partial JSON is not parsed.
      step.type satisfies 'toolcall_delta';
  }
}

const textSoFar = (block: AssistantBlock | undefined): string =>
  block?.type === 'text' ? block.text : block?.type === 'thinking' ? block.thinking : '';

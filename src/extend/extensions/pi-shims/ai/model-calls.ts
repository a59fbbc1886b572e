import { callModel } from '../../../../model/call-model.ts';
import { type DraftStep, emptyAssistantMessage } from '../../../../model/draft.ts';
import { streamTimeouts } from '../../../../model/endpoint.ts';
import { withRedactedErrors } from '../../../../model/keys/redact-errors.ts';
import { loadApiAdapter } from '../../../../model/providers/api-adapters.ts';
import type { ModelRegistry } from '../../../../model/registry/registry.ts';
import type { ModelMessage, ModelRequest, Provider, ToolSpec } from '../../../../model/request.ts';
import { nearestLevel } from '../../../../model/thinking-levels.ts';
import { messageOf } from '../../../../protocol/errors.ts';
import { version } from '../../../../protocol/generated/version.ts';
import type {
  AssistantBlock,
  AssistantMessage,
  Model,
  ThinkingLevel,
} from '../../../../protocol/generated/vocabulary.ts';
import { AssistantMessageEventStream } from './event-stream.ts';
import { getEnvApiKey } from './models.ts';

/** A conversation in pi-ai's shape. */
export interface Context {
  readonly systemPrompt?: string | undefined;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSpec[] | undefined;
}

export interface ModelCallOptions {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly maxTokens?: number | undefined;
  readonly reasoning?: ThinkingLevel | undefined;
  readonly sessionId?: string | undefined;
}

export interface ModelAccess {
  readonly agentDir: string;
  readonly registry?: ModelRegistry | undefined;
}

/** Creates pi-ai's functions for model calls. A failure is reported in the assistant message, never thrown. */
export function createModelCalls({ agentDir, registry }: ModelAccess) {
  const stream = (model: Model, context: Context, options: ModelCallOptions = {}): AssistantMessageEventStream => {
    const events = new AssistantMessageEventStream();
    void streamInto(events, { model, context, options, agentDir, registry });
    return events;
  };
  const complete = (model: Model, context: Context, options?: ModelCallOptions): Promise<AssistantMessage> =>
    stream(model, context, options).result();
  return { stream, streamSimple: stream, complete, completeSimple: complete };
}

interface ModelCall extends ModelAccess {
  readonly model: Model;
  readonly context: Context;
  readonly options: ModelCallOptions;
}

async function streamInto(events: AssistantMessageEventStream, call: ModelCall): Promise<void> {
  try {
    const { opening, events: steps } = callModel(await providerOf(call), requestOf(call));
    const partial = { ...opening };
    events.push({ type: 'start', partial });
    for await (const step of steps) {
      if (step.type === 'end') finish(events, step.message);
      else if (step.type === 'usage') partial.usage = step.usage;
      else {
        applyStep(partial, step);
        events.push({ ...step, partial });
      }
    }
  } catch (error) {
    finish(events, { ...emptyAssistantMessage(call.model), stopReason: 'error', errorMessage: messageOf(error) });
  }
}

function finish(events: AssistantMessageEventStream, message: AssistantMessage): void {
  const { stopReason } = message;
  if (stopReason === 'error' || stopReason === 'aborted')
    events.push({ type: 'error', reason: stopReason, error: message });
  else events.push({ type: 'done', reason: stopReason, message });
}

async function providerOf({ model, options, agentDir, registry }: ModelCall): Promise<Provider> {
  if (registry?.find(model.provider, model.id)) return registry.provider(model, options.signal);
  if (model.provider === 'tau') {
    const { scriptedProvider } = await import('../../../../model/scripted/player.ts');
    return scriptedProvider({});
  }
  const wire = await loadApiAdapter(model.api, { agentDir });
  const endpoint = {
    baseUrl: (model.baseUrl ?? '').replace(/\/+$/, ''),
    apiKey: options.apiKey ?? getEnvApiKey(model.provider),
    headers: { 'user-agent': `tau/${version}`, ...model.headers, ...options.headers } as Record<string, string>,
    timeouts: streamTimeouts({}),
  };
  return withRedactedErrors(wire(endpoint), endpoint);
}

function requestOf({ model, context, options }: ModelCall): ModelRequest {
  const { sessionId, maxTokens, signal = new AbortController().signal } = options;
  return {
    model,
    thinkingLevel: nearestLevel(model, options.reasoning ?? 'off'),
    systemPrompt: context.systemPrompt ?? '',
    messages: context.messages,
    tools: context.tools ?? [],
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
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

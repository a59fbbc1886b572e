import type { RequestContext } from '../../agent/hooks.ts';
import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelMessage, ModelRequest, ToolSpec, WireObserver } from '../../model/request.ts';
import { estimateRequest, MIN_OUTPUT_TOKENS } from '../../model/token-estimate.ts';
import type { AgentMessage, Model } from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import { limitsFor } from '../compaction/limits.ts';
import type { SessionHooks } from '../hooks.ts';
import { type ModelChoice, requireModel } from '../model-choice.ts';
import type { Transcript } from '../transcript.ts';
import { fitMessages, modelMessages } from './model-messages.ts';
import type { TokenScale } from './token-scale.ts';

interface RequestParts {
  readonly transcript: Transcript;
  readonly hooks: SessionHooks;
  readonly choice: () => ModelChoice;
  readonly settings: () => Settings;
  readonly scale: TokenScale;
}

/** Builds the model request from the conversation, after the `context`, `requestContext` and `beforeRequest` hooks. */
export async function modelRequest(
  { transcript, hooks, choice, settings, scale }: RequestParts,
  { systemPrompt, tools, signal }: { systemPrompt: string; tools: readonly Tool[]; signal: AbortSignal },
): Promise<ModelRequest> {
  // From here on an accepted prompt survives a power cut; before, only a crash of the process.
  await transcript.secure(signal);
  const { context, requestContext, beforeRequest, payload } = hooks;
  const { thinkingBudgets, compaction, images } = settings();
  const edited = context && (await unlessAborted(context(structuredClone([...transcript.messages]), signal), signal));
  const given: RequestContext = { systemPrompt, tools, messages: edited ?? transcript.messages };
  const replaced = requestContext && (await unlessAborted(requestContext(given, signal), signal));
  const sent = replaced ?? given;
  const { routedFrom } = choice();
  const chosen = requireModel(choice());
  const model: Model = images?.blockImages ? { ...chosen, input: ['text'] } : chosen;
  const wire = wireObserver(hooks, model, signal);
  const request: ModelRequest = {
    model,
    thinkingLevel: choice().thinkingLevel,
    systemPrompt: sent.systemPrompt,
    messages: sentMessages(sent.messages, {
      model,
      systemPrompt: sent.systemPrompt,
      tools: sent.tools,
      compaction,
      scale,
    }),
    tools: sent.tools,
    sessionId: transcript.log.header.id,
    ...(thinkingBudgets ? { thinkingBudgets } : {}),
    ...(payload ? { onPayload: (body: unknown) => payload(body, signal) } : {}),
    ...(wire ? { wire } : {}),
    ...(routedFrom ? { routedFrom } : {}),
    signal,
  };
  const limited = { ...request, ...outputLimit(request, scale) };
  return (beforeRequest && (await unlessAborted(beforeRequest(limited), signal))) ?? limited;
}

/** A smaller limit of the answer where the provider counts more tokens than the estimate has. */
function outputLimit(request: ModelRequest, scale: TokenScale): Pick<ModelRequest, 'maxTokens'> {
  const { model } = request;
  const estimate = estimateRequest(request);
  const tokens = scale.tokens(estimate, model);
  if (model.contextWindow <= 0 || tokens <= estimate) return {};
  return { maxTokens: Math.min(model.maxTokens, Math.max(model.contextWindow - tokens, MIN_OUTPUT_TOKENS)) };
}

/** The hooks of the HTTP exchange; undefined if there are none, so that nothing is built for them. */
function wireObserver(hooks: SessionHooks, model: Model, signal: AbortSignal): WireObserver | undefined {
  const { requestHeaders, responseStart, streamEvent } = hooks;
  if (!requestHeaders && !responseStart && !streamEvent) return undefined;
  const wait = async (work: Promise<void>) => void (await unlessAborted(work, signal));
  return {
    ...(requestHeaders ? { onHeaders: (headers) => wait(requestHeaders(headers, signal)) } : {}),
    ...(responseStart ? { onResponse: (response) => wait(responseStart(response, signal)) } : {}),
    ...(streamEvent ? { onStreamEvent: (data) => wait(streamEvent({ model, data }, signal)) } : {}),
  };
}

interface SentWith {
  readonly model: Model;
  readonly systemPrompt: string;
  readonly tools: readonly ToolSpec[];
  readonly compaction: Settings['compaction'];
  readonly scale: TokenScale;
}

// Texts are never shortened to nothing.
const MIN_USABLE_SHARE = 1 / 64;
// The usable context changes in steps of this share: a text that changes with every request costs the provider's cache.
const USABLE_STEP = 1 / 32;

/** The messages of a request: long ones are shortened if the request would leave no room for an answer. */
export function sentMessages(
  messages: readonly AgentMessage[],
  { model, systemPrompt, tools, compaction, scale }: SentWith,
): readonly ModelMessage[] {
  const converted = modelMessages(messages);
  if (model.contextWindow <= 0) return converted;
  const threshold = model.contextWindow - limitsFor(model, compaction).reserveTokens;
  const estimate = scale.estimateFor(threshold, model);
  const steps = Math.floor(estimate / (model.contextWindow * USABLE_STEP)) * model.contextWindow * USABLE_STEP;
  const usable = estimate === threshold ? threshold : Math.max(steps, model.contextWindow * MIN_USABLE_SHARE);
  return fitMessages(converted, { usable, overhead: overheadOf({ systemPrompt, tools }) });
}

/** Estimated tokens of a request without messages. */
export const overheadOf = (request: Pick<ModelRequest, 'systemPrompt' | 'tools'>): number =>
  estimateRequest({ ...request, messages: [] });

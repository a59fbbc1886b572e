import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import {
  callRouter,
  isVirtual,
  type LeveledModel,
  physicalRoute,
  type RouteRequest,
} from '../../model/registry/virtual-models.ts';
import { nearestLevel } from '../../model/thinking-levels.ts';
import type { AgentMessage, AssistantMessage, Model } from '../../protocol/generated/vocabulary.ts';
import { modelMessages } from '../context/model-messages.ts';
import type { ModelChoice } from '../model-choice.ts';
import type { Transcript } from '../transcript.ts';

/** The custom type of the entries that hold the state of a router. */
export const ROUTER_STATE_TYPE = 'pi.virtual-model-state';

interface RoutingParts {
  readonly transcript: Transcript;
  readonly registry: ModelRegistry;
  readonly choice: () => ModelChoice;
}

/** A model call before its route. */
export interface RoutedCall {
  readonly systemPrompt: string;
  /** Whether this call repeats a failed one. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal;
}

/** The choice for one request: the selected model, or the one that the router of a virtual model returns. */
export async function routedChoice(parts: RoutingParts, call: RoutedCall): Promise<ModelChoice> {
  const selected = parts.choice();
  const { model } = selected;
  if (!model || !isVirtual(model)) return selected;
  const stored = routerState(parts.transcript, model);
  const request = { ...routeRequest(parts, { ...selected, model }, call), state: structuredClone(stored) };
  const route = await unlessAborted(callRouter(parts.registry, request), call.signal);
  // After an abort the request is not sent.
  if (!route) return selected;
  if (route.state !== undefined && JSON.stringify(route.state) !== JSON.stringify(stored)) {
    const data = { provider: model.provider, modelId: model.id, state: route.state };
    parts.transcript.append({ type: 'custom', customType: ROUTER_STATE_TYPE, data });
  }
  return { ...physicalRoute(parts.registry, model, route), routedFrom: model };
}

function routeRequest(
  { transcript, registry }: RoutingParts,
  { model, thinkingLevel }: ModelChoice & { model: Model },
  { systemPrompt, isRetry, signal }: RoutedCall,
): Omit<RouteRequest, 'state'> {
  const { messages } = transcript;
  const previous = lastAnswer(messages);
  const failed = isRetry ? lastFailure(transcript) : undefined;
  return {
    model: structuredClone(model),
    thinkingLevel,
    reason: isRetry ? 'retry' : followsUser(messages) ? 'user' : 'continuation',
    previous: previous && leveled(registry, previous),
    failed: failed && withMessage(leveled(registry, failed), failed),
    messages: [
      { role: 'system', content: systemPrompt, timestamp: Date.now() },
      ...structuredClone(modelMessages(messages)),
    ],
    signal,
  };
}

// The latest response that did not fail.
const lastAnswer = (messages: readonly AgentMessage[]): AssistantMessage | undefined =>
  messages.findLast(
    (message): message is AssistantMessage =>
      message.role === 'assistant' && message.stopReason !== 'error' && message.stopReason !== 'aborted',
  );

/** The failed response that a retry has removed from the conversation. */
function lastFailure({ log }: Transcript): AssistantMessage | undefined {
  const [latest] = log.nodesOfKind('assistant');
  const entry = latest && log.entry(latest.id);
  const message = entry?.type === 'message' ? entry.message : undefined;
  return message?.role === 'assistant' && message.stopReason === 'error' ? message : undefined;
}

function leveled(registry: ModelRegistry, message: AssistantMessage): LeveledModel | undefined {
  const model = registry.findAny(message.provider, message.model);
  if (!model || isVirtual(model)) return undefined;
  const { thinkingLevel } = message;
  return { model: structuredClone(model), ...(thinkingLevel ? { thinkingLevel } : {}) };
}

const withMessage = (model: LeveledModel | undefined, message: AssistantMessage) =>
  model && { ...model, message: structuredClone(message) };

function followsUser(messages: readonly AgentMessage[]): boolean {
  const at = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(at + 1).some(({ role }) => role === 'user');
}

function routerState({ log }: Transcript, { provider, id }: Model): unknown {
  for (const node of log.nodesOfKind(ROUTER_STATE_TYPE)) {
    const entry = log.entry(node.id);
    const data = Object(entry?.type === 'custom' ? entry.data : undefined) as Record<string, unknown>;
    if (data['provider'] === provider && data['modelId'] === id) return data['state'];
  }
  return undefined;
}

/** The choice whose limits apply: for a virtual model, the model that answered last. */
export function measuredChoice(choice: ModelChoice, transcript: Transcript, registry: ModelRegistry): ModelChoice {
  if (!choice.model || !isVirtual(choice.model)) return choice;
  const answer = lastAnswer(transcript.messages);
  const model = answer && registry.findAny(answer.provider, answer.model);
  return model && !isVirtual(model)
    ? { ...choice, model, thinkingLevel: nearestLevel(model, choice.thinkingLevel) }
    : choice;
}

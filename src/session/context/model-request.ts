import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelMessage, ModelRequest } from '../../model/request.ts';
import { estimateRequest } from '../../model/token-estimate.ts';
import type { AgentMessage, Model } from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import { limitsFor } from '../compaction/limits.ts';
import type { SessionHooks } from '../hooks.ts';
import { type ModelChoice, requireModel } from '../model-choice.ts';
import type { Transcript } from '../transcript.ts';
import { fitMessages, modelMessages } from './model-messages.ts';

interface RequestParts {
  readonly transcript: Transcript;
  readonly hooks: SessionHooks;
  readonly choice: () => ModelChoice;
  readonly settings: () => Settings;
}

/** Builds the model request from the conversation, after the `context` and `beforeRequest` hooks. */
export async function modelRequest(
  { transcript, hooks, choice, settings }: RequestParts,
  { systemPrompt, tools, signal }: { systemPrompt: string; tools: readonly Tool[]; signal: AbortSignal },
): Promise<ModelRequest> {
  // From here on an accepted prompt survives a power cut; before, only a crash of the process.
  await transcript.sync();
  const { context, beforeRequest, payload } = hooks;
  const { thinkingBudgets, compaction } = settings();
  const edited = context && (await unlessAborted(context(structuredClone([...transcript.messages]), signal), signal));
  const model = requireModel(choice());
  const request: ModelRequest = {
    model,
    thinkingLevel: choice().thinkingLevel,
    systemPrompt,
    messages: sentMessages(edited ?? transcript.messages, { model, systemPrompt, tools, compaction }),
    tools,
    sessionId: transcript.log.header.id,
    ...(thinkingBudgets ? { thinkingBudgets } : {}),
    ...(payload ? { onPayload: (body: unknown) => payload(body, signal) } : {}),
    signal,
  };
  return (beforeRequest && (await unlessAborted(beforeRequest(request), signal))) ?? request;
}

interface SentWith {
  readonly model: Model;
  readonly systemPrompt: string;
  readonly tools: readonly Tool[];
  readonly compaction: Settings['compaction'];
}

/** The messages of a request: long ones are shortened if the request would leave no room for an answer. */
export function sentMessages(
  messages: readonly AgentMessage[],
  { model, systemPrompt, tools, compaction }: SentWith,
): readonly ModelMessage[] {
  const converted = modelMessages(messages);
  if (model.contextWindow <= 0) return converted;
  const usable = model.contextWindow - limitsFor(model, compaction).reserveTokens;
  return fitMessages(converted, { usable, overhead: overheadOf({ systemPrompt, tools }) });
}

/** Estimated tokens of a request without messages. */
export const overheadOf = (request: Pick<ModelRequest, 'systemPrompt' | 'tools'>): number =>
  estimateRequest({ ...request, messages: [] });

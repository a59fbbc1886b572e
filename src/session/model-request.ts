import type { Tool } from '../agent/tool.ts';
import { unlessAborted } from '../agent/unless-aborted.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Settings } from '../store/settings.ts';
import type { SessionHooks } from './hooks.ts';
import { type ModelChoice, requireModel } from './model-choice.ts';
import { modelMessages } from './model-messages.ts';
import type { Transcript } from './transcript.ts';

interface RequestParts {
  readonly transcript: Transcript;
  readonly hooks: SessionHooks;
  readonly choice: () => ModelChoice;
  readonly settings: () => Settings;
}

/** The conversation as a request to the model, after everybody who may change it has seen it. */
export async function modelRequest(
  { transcript, hooks, choice, settings }: RequestParts,
  { systemPrompt, tools, signal }: { systemPrompt: string; tools: readonly Tool[]; signal: AbortSignal },
): Promise<ModelRequest> {
  // On the device before the model is asked: what a client said survives a power cut.
  await transcript.sync();
  const { context, beforeRequest, payload } = hooks;
  const { thinkingBudgets } = settings();
  const edited = context && (await unlessAborted(context(structuredClone([...transcript.messages]), signal), signal));
  const request: ModelRequest = {
    model: requireModel(choice()),
    thinkingLevel: choice().thinkingLevel,
    systemPrompt,
    messages: modelMessages(edited ?? transcript.messages),
    tools,
    sessionId: transcript.log.header.id,
    ...(thinkingBudgets ? { thinkingBudgets } : {}),
    ...(payload ? { onPayload: (body: unknown) => payload(body, signal) } : {}),
    signal,
  };
  return (beforeRequest && (await unlessAborted(beforeRequest(request), signal))) ?? request;
}

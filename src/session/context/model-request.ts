import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { Settings } from '../../store/settings.ts';
import type { SessionHooks } from '../hooks.ts';
import { type ModelChoice, requireModel } from '../model-choice.ts';
import type { Transcript } from '../transcript.ts';
import { modelMessages } from './model-messages.ts';

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

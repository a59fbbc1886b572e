import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ExtensionCommandContext } from '../extend/extensions/extension-api.ts';
import { createModelCalls } from '../extend/extensions/pi-shims/ai/model-calls.ts';
import { convertToLlm } from '../extend/extensions/pi-shims/coding-agent/conversation.ts';
import { Refusal } from '../protocol/errors.ts';
import { realPath } from '../system/files/real-path.ts';
import type { EmbedContext } from './context.ts';
import { type SendUserMessageOptions, sendCustomMessage, sendUserMessage } from './session-input.ts';

const BUG_REPORT_PROMPT = `Summarise the conversation for a bug report about the coding agent itself: what the user wanted, what the \
agent did, which tools failed and how, and what was expected instead. Leave out secrets, personal data and file contents.`;

/** Writes the active branch as a session file without branches; returns its path. Throws a `Refusal` for its own file. */
export function exportToJsonl({ agent }: EmbedContext, outputPath: string | undefined): string {
  const { log } = agent.session;
  const path = resolve(agent.project.cwd, outputPath ?? `session-${log.header.id}.jsonl`);
  if (log.path !== undefined && realPath(path) === realPath(log.path))
    throw new Refusal('invalid_params', `${path} is the file of the session itself`);
  const branch = log.branch().map((entry, index, all) => ({ ...entry, parentId: all[index - 1]?.id ?? null }));
  const lines = [log.header, ...branch].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, lines.join(''), { mode: 0o600 });
  return path;
}

/** Lets the model of the session summarise it. Nothing is stored. */
export async function summarizeForBugReport(
  { agent }: EmbedContext,
  { hint, signal }: { readonly hint?: string | undefined; readonly signal: AbortSignal },
): Promise<string> {
  const { registry, session, addonPaths } = agent;
  const { model } = session.choice;
  if (!model) throw new Refusal('model_not_found', 'No model is selected');
  const { complete } = createModelCalls({ agentDir: addonPaths.agentDir, registry });
  const text = hint ? `Write the summary now. The user adds: ${hint}` : 'Write the summary now.';
  const messages = [...convertToLlm(session.transcript.messages), userMessage(text)];
  const answer = await complete(model, { systemPrompt: BUG_REPORT_PROMPT, messages }, { signal });
  if (answer.stopReason === 'error' || answer.stopReason === 'aborted')
    throw new Error(answer.errorMessage ?? 'The summary was cancelled');
  return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

const userMessage = (text: string) => ({
  role: 'user' as const,
  content: [{ type: 'text' as const, text }],
  timestamp: Date.now(),
});

/** The context of a command in this session, with functions that send messages to it. */
export function replacedSessionContext(context: EmbedContext): ExtensionCommandContext {
  const { extensions } = context.agent.addons.loaded ?? {};
  if (!extensions) throw new Refusal('not_supported', 'createReplacedSessionContext needs an extension in the session');
  return Object.assign(extensions.commandContext(), {
    sendMessage: (...[message, options]: SendArguments) => sendCustomMessage(context, message, options),
    sendUserMessage: (text: string, options: SendUserMessageOptions) => sendUserMessage(context, text, options),
  });
}

type SendArguments = [Parameters<typeof sendCustomMessage>[1], Parameters<typeof sendCustomMessage>[2]];

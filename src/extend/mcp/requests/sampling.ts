import type { CreateMessageResult } from '@modelcontextprotocol/client';
import { unlessAborted } from '../../../agent/unless-aborted.ts';
import { callModel } from '../../../model/call-model.ts';
import { emptyAssistantMessage } from '../../../model/draft.ts';
import type { ModelRegistry } from '../../../model/registry/registry.ts';
import type { ModelMessage, ModelRequest, ResponseEnd } from '../../../model/request.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { isObject } from '../../../protocol/json.ts';
import type { Dialogs } from '../../dialogs.ts';
import { rejection, type SampleParams } from './server-requests.ts';

// Limits of a request: its text, its messages and the response.
const MAX_SAMPLE_CHARACTERS = 256 * 1024;
const MAX_SAMPLE_MESSAGES = 100;
const MAX_SAMPLE_TOKENS = 8192;

const MAX_SAMPLE_PREVIEW = 2000;

/** The model of the session, and who decides about its use. */
export interface SamplingAccess {
  readonly server: string;
  readonly model: () => Model | null | undefined;
  readonly registry: ModelRegistry;
  readonly dialogs: Pick<Dialogs, 'open'>;
}

/**
 * Calls the session's model for a server, after the user has confirmed this one request. Only text goes to the model,
 * without tools. Rejects with an error for the server otherwise.
 */
export async function sample(
  params: SampleParams,
  signal: AbortSignal,
  access: SamplingAccess,
): Promise<CreateMessageResult> {
  const model = access.model();
  if (!model) throw rejection('The session has no model');
  const messages = messagesFrom(params.messages, model);
  const systemPrompt = typeof params.systemPrompt === 'string' ? params.systemPrompt : '';
  const size = JSON.stringify(messages).length + systemPrompt.length;
  if (size > MAX_SAMPLE_CHARACTERS) throw rejection(`The request has more than ${MAX_SAMPLE_CHARACTERS} characters`);
  const maxTokens = Math.min(
    Math.max(1, Number(params.maxTokens) || MAX_SAMPLE_TOKENS),
    MAX_SAMPLE_TOKENS,
    model.maxTokens,
  );
  const consent = await access.dialogs.open(
    {
      method: 'confirm',
      title: `MCP server ${access.server}: let it call ${model.id}?`,
      message: preview({ systemPrompt, messages, maxTokens }),
    },
    { signal },
  );
  if (consent?.confirmed !== true) throw rejection('The user rejected the sampling request');
  const request = { model, thinkingLevel: 'off', systemPrompt, messages, tools: [], maxTokens, signal } as const;
  const { message, failure } = await responseTo(request, access.registry);
  if (failure) throw rejection(`The model call failed: ${failure.code}`);
  const text = message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
  return {
    role: 'assistant',
    content: { type: 'text', text },
    model: model.id,
    stopReason: message.stopReason === 'length' ? 'maxTokens' : 'endTurn',
  };
}

async function responseTo(request: ModelRequest, registry: ModelRegistry): Promise<ResponseEnd> {
  const provider = await unlessAborted(registry.provider(request.model, request.signal), request.signal);
  if (!provider) throw rejection('The request was cancelled');
  for await (const event of callModel(provider, request).events) if (event.type === 'end') return event;
  throw rejection('The model stream ended without an end');
}

function messagesFrom(values: readonly unknown[], model: Model): ModelMessage[] {
  if (values.length === 0 || values.length > MAX_SAMPLE_MESSAGES)
    throw rejection(`A request needs between 1 and ${MAX_SAMPLE_MESSAGES} messages`);
  return values.map((value) => {
    const { role, content } = isObject(value) ? value : {};
    const text = [content].flat().map(textFrom).join('\n');
    if (role === 'assistant')
      return { ...emptyAssistantMessage(model), content: [{ type: 'text', text }], stopReason: 'stop' } as ModelMessage;
    return { role: 'user', content: [{ type: 'text', text }], timestamp: 0 };
  });
}

function textFrom(block: unknown): string {
  if (isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string') return block['text'];
  throw rejection('Only text can be sampled');
}

function preview({
  systemPrompt,
  messages,
  maxTokens,
}: Pick<ModelRequest, 'systemPrompt' | 'messages'> & { maxTokens: number }): string {
  const texts = messages.map(
    ({ role, content }) =>
      `${role}: ${[content]
        .flat()
        .map((block) => (typeof block === 'string' ? block : 'text' in block ? block.text : ''))
        .join('')}`,
  );
  const whole = [...(systemPrompt === '' ? [] : [`system: ${systemPrompt}`]), ...texts].join('\n');
  const shown =
    whole.length > MAX_SAMPLE_PREVIEW ? `${whole.slice(0, MAX_SAMPLE_PREVIEW)}… (${whole.length} characters)` : whole;
  return `${shown}\n\nAt most ${maxTokens} tokens.`;
}

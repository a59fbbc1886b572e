import type { AssistantMessage, Model, Usage } from '../../../protocol/generated/vocabulary.ts';
import { callModel } from '../../call-model.ts';
import { noUsage } from '../../draft.ts';
import type { ModelEvent, ModelRequest, Provider, ResponseEnd } from '../../request.ts';
import { scriptedModels } from '../models.ts';
import { scriptedProvider } from '../player.ts';
import { parseScript } from '../script.ts';

/** The events and result of one model call. */
export interface CallRecord {
  readonly events: readonly ModelEvent[];
  readonly message: Omit<AssistantMessage, 'timestamp'>;
  readonly failure: ResponseEnd['failure'];
}

export function modelNamed(id: string): Model {
  const model = scriptedModels.find((one) => one.id === id);
  if (!model) throw new Error(`No model named ${id}`);
  return model;
}

export const scriptedRequest = (own: Partial<ModelRequest> = {}): ModelRequest => ({
  model: modelNamed('scripted'),
  thinkingLevel: 'off',
  systemPrompt: '',
  messages: [],
  tools: [],
  signal: new AbortController().signal,
  ...own,
});

/** A provider that plays these lines of a script. */
export const scripted = (...lines: object[]): Provider =>
  scriptedProvider({ script: parseScript(lines.map((line) => JSON.stringify(line)).join('\n'), 'test') });

/** Calls a model and reads the response to its end. */
export async function callToEnd(provider: Provider, request: ModelRequest = scriptedRequest()): Promise<CallRecord> {
  const events: ModelEvent[] = [];
  for await (const event of callModel(provider, request).events) if (event.type !== 'response') events.push(event);
  const end = events.at(-1);
  if (end?.type !== 'end') throw new Error('The answer has no end');
  const { timestamp: _, ...message } = end.message;
  return { events, message, failure: end.failure };
}

/** An expected assistant message, without its timestamp. */
export const assistantMessage = (own: Partial<AssistantMessage>): Omit<AssistantMessage, 'timestamp'> => ({
  role: 'assistant',
  content: [],
  api: 'tau-scripted',
  provider: 'tau',
  model: 'scripted',
  usage: noUsage(),
  stopReason: 'stop',
  ...own,
});

export const freeUsage = (input: number, output: number): Usage => ({
  ...noUsage(),
  input,
  output,
  totalTokens: input + output,
});

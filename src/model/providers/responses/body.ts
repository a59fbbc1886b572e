import { longestAnswer } from '../../longest-answer.ts';
import type { ModelRequest, ToolSpec } from '../../request.ts';
import { inputOf } from './input.ts';
import { shortened } from './seals.ts';

/** The API refuses to write less. */
const LEAST_TOKENS = 16;

/** What is asked. The same request makes the same bytes: servers find what they have cached by them. */
export function responsesBody(request: ModelRequest): object {
  const { model, systemPrompt, sessionId, tools } = request;
  return {
    model: model.id,
    ...(systemPrompt === '' ? {} : { instructions: systemPrompt }),
    input: inputOf(request),
    ...(tools.length === 0 ? {} : { tools: tools.map(functionTool) }),
    ...thinking(request),
    max_output_tokens: Math.max(LEAST_TOKENS, longestAnswer(request)),
    ...(sessionId === undefined ? {} : { prompt_cache_key: shortened(sessionId) }),
    store: false,
    stream: true,
  };
}

const functionTool = ({ name, description, parameters }: ToolSpec): object => ({
  type: 'function',
  name,
  description,
  parameters,
  strict: false,
});

/** A model that thinks may do so unasked: its thoughts must come in a form that can be given back. */
function thinking({ model, thinkingLevel }: ModelRequest): object {
  if (!model.reasoning) return {};
  const word = model.thinkingLevelMap?.[thinkingLevel];
  const include = ['reasoning.encrypted_content'];
  if (thinkingLevel === 'off') return { ...(typeof word === 'string' ? { reasoning: { effort: word } } : {}), include };
  return { reasoning: { effort: typeof word === 'string' ? word : thinkingLevel, summary: 'auto' }, include };
}

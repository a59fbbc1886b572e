import { maxOutputTokens } from '../../max-output.ts';
import type { ModelRequest, ToolSpec } from '../../request.ts';
import { googleContents } from './contents.ts';
import { thinkingConfig } from './thinking.ts';

/** The request body. Equal requests have equal bytes, as prompt caching requires. */
export function googleBody(request: ModelRequest): object {
  const { systemPrompt, tools } = request;
  const thinking = thinkingConfig(request);
  return {
    ...(systemPrompt === '' ? {} : { systemInstruction: { parts: [{ text: systemPrompt }] } }),
    contents: googleContents(request),
    ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(declaration) }] }),
    generationConfig: {
      maxOutputTokens: maxOutputTokens(request),
      ...(thinking ? { thinkingConfig: thinking } : {}),
    },
  };
}

const declaration = ({ name, description, parameters }: ToolSpec): object => ({
  name,
  description,
  parametersJsonSchema: parameters,
});

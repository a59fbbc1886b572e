import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import type { ModelRequest, Provider, ToolSpec } from '../../request.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import type { ApiRoute } from '../api-route.ts';
import { decodeToEnd } from '../stream-decoder.ts';
import { googleContents } from './contents.ts';
import { GoogleStreamDecoder } from './stream-decoder.ts';
import { thinkingConfig } from './thinking.ts';

/** The Gemini API of Google. */
export const googleGenerativeAi: ApiAdapter = (endpoint) => {
  const { apiKey } = endpoint;
  return googleOver(({ model }) => ({
    endpoint,
    path: `/models/${model.id}:streamGenerateContent?alt=sse`,
    headers: apiKey === undefined ? {} : { 'x-goog-api-key': apiKey },
  }));
};

/** The same API over another route. */
export const googleOver =
  (routeOf: (request: ModelRequest) => ApiRoute): Provider =>
  (request, draft) => {
    const decoder = new GoogleStreamDecoder(request, draft);
    const route = routeOf(request);
    const events = streamEvents({ ...route, body: googleBody(request), request, isDone: () => decoder.isEnding });
    return decodeToEnd(events, decoder);
  };

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

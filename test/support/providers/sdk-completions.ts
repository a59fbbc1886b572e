import type { Api, ModelReply } from './provider-double.ts';

/** OpenAI's chat completions, as far as the AI SDK's package for compatible servers reads them. */
export const sdkCompletions: Api = {
  name: 'ai-sdk:@ai-sdk/openai-compatible',
  encode: (reply) => [...chunksOf(reply).map((chunk) => ({ data: JSON.stringify(chunk) })), { data: '[DONE]' }],
  errorBody: ({ message = 'Refused', status }) =>
    JSON.stringify({ error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error' } }),
};

function chunksOf(reply: ModelReply): object[] {
  const { thinking, text, calls = [], usage, error } = reply;
  const pieces = (input = '') => input.match(/\S+\s*/g) ?? [];
  const chunks: object[] = [
    { role: 'assistant', content: '' },
    ...pieces(thinking).map((piece) => ({ reasoning_content: piece })),
    ...pieces(text).map((content) => ({ content })),
    ...calls.flatMap((call, index) => callDeltas(call, index)),
  ].map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] }));
  if (error) return [...chunks, { error }];
  const ended = { index: 0, delta: {}, finish_reason: finishReason(reply) };
  return [...chunks, chunk({ choices: [ended] }), ...(usage ? [chunk({ choices: [], usage: usageOf(usage) })] : [])];
}

const chunk = (own: object) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'small-2025',
  ...own,
});

function callDeltas(
  { id, name, arguments: values }: NonNullable<ModelReply['calls']>[number],
  index: number,
): object[] {
  const json = JSON.stringify(values);
  const middle = Math.ceil(json.length / 2);
  return [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    { tool_calls: [{ index, function: { arguments: json.slice(0, middle) } }] },
    { tool_calls: [{ index, function: { arguments: json.slice(middle) } }] },
  ];
}

function finishReason({ stop, calls = [] }: ModelReply): string {
  const reasons = { stop: 'stop', length: 'length', toolUse: 'tool_calls' };
  return reasons[stop ?? (calls.length > 0 ? 'toolUse' : 'stop')];
}

const usageOf = ({ input, output, cacheRead = 0 }: NonNullable<ModelReply['usage']>) => ({
  prompt_tokens: input + cacheRead,
  completion_tokens: output,
  total_tokens: input + cacheRead + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
});

import type { Api, ModelReply } from './provider-double.ts';

const id = 'chatcmpl-1';

/** OpenAI's chat completions, as OpenAI streams them. */
export const completions: Api = {
  name: 'openai-completions',
  encode: (reply) => [
    ...deltasOf(reply).map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    ...(reply.error
      ? [{ data: JSON.stringify({ error: { ...reply.error, code: null, param: null } }) }]
      : closingEvents(reply)),
  ],
  errorBody: ({ status, message = 'Refused' }) =>
    JSON.stringify({ error: { message, type: errorTypeOf(status), param: null, code: null } }),
};

/** A chunk of the stream with these fields. */
export const chunk = (fields: object) => ({
  data: JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: 'gpt-test-2026', ...fields }),
});

function deltasOf({ thinking, text, calls = [] }: ModelReply): object[] {
  return [
    { role: 'assistant', content: '' },
    ...halves(thinking).map((piece) => ({ reasoning_content: piece })),
    ...halves(text).map((piece) => ({ content: piece })),
    ...calls.flatMap(({ id: callId, name, arguments: values }, index) => [
      { tool_calls: [{ index, id: callId, type: 'function', function: { name, arguments: '' } }] },
      ...halves(JSON.stringify(values)).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
}

const halves = (text = '') => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
};

function closingEvents({ calls, stop, usage }: ModelReply) {
  const reason = { stop: 'stop', length: 'length', toolUse: 'tool_calls' }[stop ?? (calls ? 'toolUse' : 'stop')];
  return [
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }),
    ...(usage ? [chunk({ choices: [], usage: countsOf(usage) })] : []),
    { data: '[DONE]' },
  ];
}

function countsOf({ input, output, cacheRead = 0, cacheWrite = 0 }: NonNullable<ModelReply['usage']>) {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

const errorTypeOf = (status: number) => (status >= 500 ? 'server_error' : 'invalid_request_error');

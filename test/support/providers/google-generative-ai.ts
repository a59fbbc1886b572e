import type { Api, ModelReply, SentEvent } from './provider-double.ts';

/** Google's Gemini API: streamed responses of a model. */
export const googleApi: Api = {
  name: 'google-generative-ai',
  encode: (reply) => {
    const chunks = [...partsOf(reply).map((part) => chunk([part], reply)), closingChunk(reply)];
    return chunks.map(googleEvent);
  },
  errorBody: ({ status, message = 'Refused' }) =>
    JSON.stringify([{ error: { code: status, message, status: statusNames[status] ?? 'UNKNOWN' } }]),
};

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

export const googleEvent = (data: object): SentEvent => ({ data: JSON.stringify(data) });

/** A chunk of a response with these parts. */
export const chunk = (parts: readonly object[], reply: ModelReply = {}, candidate: object = {}): object => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...candidate }],
  usageMetadata: usage(reply),
  modelVersion: 'double-001',
  responseId: 'answer1',
});

const wordsOf = (text = '') => text.match(/\S+\s*|\s+/g) ?? [];

function partsOf({ thinking, text, calls = [] }: ModelReply): object[] {
  return [
    ...wordsOf(thinking).map((piece) => ({ text: piece, thought: true })),
    ...wordsOf(text).map((piece) => ({ text: piece })),
    ...calls.map(({ name, arguments: args }, index) => ({
      functionCall: { name, args },
      ...(index === 0 ? { thoughtSignature: 'c2VhbA==' } : {}),
    })),
  ];
}

function closingChunk(reply: ModelReply): object {
  if (reply.error) return { error: { code: 503, message: reply.error.message, status: reply.error.type } };
  const finishReason = reply.stop === 'length' ? 'MAX_TOKENS' : 'STOP';
  const signature = reply.text === undefined ? {} : { thoughtSignature: 'd29yZHM=' };
  return chunk([{ text: '', ...signature }], reply, { finishReason });
}

function usage({ usage: counts, thinking }: ModelReply) {
  const { input = 10, output = 5, cacheRead = 0 } = counts ?? {};
  const thoughts = thinking === undefined ? 0 : 2;
  return {
    promptTokenCount: input + cacheRead,
    candidatesTokenCount: output - thoughts,
    ...(thoughts === 0 ? {} : { thoughtsTokenCount: thoughts }),
    ...(cacheRead === 0 ? {} : { cachedContentTokenCount: cacheRead }),
    totalTokenCount: input + cacheRead + output,
  };
}

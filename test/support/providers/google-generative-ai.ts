import type { Api, Reply, SentEvent } from './double.ts';

/** Google's Gemini API, as far as a model that answers is concerned. */
export const googleApi: Api = {
  name: 'google-generative-ai',
  speak: (reply) => {
    const chunks = [...partsOf(reply).map((part) => chunk([part], reply)), ending(reply)];
    return chunks.map(sent);
  },
  errorBody: ({ status, message = 'Refused' }) =>
    JSON.stringify([{ error: { code: status, message, status: statusWords[status] ?? 'UNKNOWN' } }]),
};

const statusWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

export const sent = (data: object): SentEvent => ({ data: JSON.stringify(data) });

/** A piece of an answer around these parts. */
export const chunk = (parts: readonly object[], reply: Reply = {}, candidate: object = {}): object => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...candidate }],
  usageMetadata: usage(reply),
  modelVersion: 'double-001',
  responseId: 'answer1',
});

const words = (text = '') => text.match(/\S+\s*|\s+/g) ?? [];

function partsOf({ thinking, text, calls = [] }: Reply): object[] {
  return [
    ...words(thinking).map((piece) => ({ text: piece, thought: true })),
    ...words(text).map((piece) => ({ text: piece })),
    ...calls.map(({ name, arguments: args }, index) => ({
      functionCall: { name, args },
      ...(index === 0 ? { thoughtSignature: 'c2VhbA==' } : {}),
    })),
  ];
}

function ending(reply: Reply): object {
  if (reply.error) return { error: { code: 503, message: reply.error.message, status: reply.error.type } };
  const finishReason = reply.stop === 'length' ? 'MAX_TOKENS' : 'STOP';
  const seal = reply.text === undefined ? {} : { thoughtSignature: 'd29yZHM=' };
  return chunk([{ text: '', ...seal }], reply, { finishReason });
}

function usage({ usage: counts, thinking }: Reply) {
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

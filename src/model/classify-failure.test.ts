import { describe, expect, it } from 'vitest';
import type { RunError } from '../protocol/generated/vocabulary.ts';
import { classifyFailure, isOverflow, isTransient } from './classify-failure.ts';

describe('a context overflow', () => {
  it.each([
    'prompt is too long: 213462 tokens > 200000 maximum',
    '413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    'Input is too long for requested model.',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
    '400 context_length_exceeded',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'Please reduce the length of the messages or completion.',
    'prompt token count of 138000 exceeds the limit of 128000',
    'the request exceeds the available context size. try increasing the context size',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'invalid params, context window exceeds limit (2013)',
    'Your request exceeded model token limit: 262144 (requested: 291351)',
    'Prompt contains 34007 tokens, too large for model with 32768 maximum context length',
    'model_context_window_exceeded',
    'Range of input length should be [1, 30720]',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    'Too many tokens in the prompt',
    '413 Payload Too Large',
  ])('is recognised by: %s', (message) => {
    expect(isOverflow(message)).toBe(true);
    expect(classifyFailure({ message, status: 400 }).code).toBe('context_overflow');
  });

  it.each([
    '429 Rate limit reached: too many tokens, limit 30000 tokens per minute',
    'ThrottlingException: Too many tokens, please wait before trying again. Too many requests.',
    'max_tokens must be at least 1',
    'bad thing',
    '',
  ])('is not recognised by: %s', (message) => {
    expect(isOverflow(message)).toBe(false);
  });
});

describe('the code of a failure', () => {
  it.each<[number | undefined, string, RunError]>([
    [401, 'no', 'auth_failed'],
    [403, 'no', 'auth_failed'],
    [429, 'no', 'rate_limited'],
    [503, 'no', 'overloaded'],
    [529, 'no', 'overloaded'],
    [500, 'no', 'model_error'],
    [400, 'no', 'model_error'],
    [undefined, 'Overloaded (overloaded_error)', 'overloaded'],
    [undefined, 'RESOURCE_EXHAUSTED', 'rate_limited'],
    [undefined, 'Rate limit reached', 'rate_limited'],
    [400, 'API key not valid (invalid_api_key)', 'auth_failed'],
    [undefined, 'something', 'model_error'],
  ])('for status %s and the message %s is %s', (status, message, code) => {
    expect(classifyFailure({ message, ...(status === undefined ? {} : { status }) })).toMatchObject({
      code,
      message,
      status,
    });
  });

  it('comes with the status and retry delay of the server', () => {
    expect(classifyFailure({ message: 'no', status: 429, retryAfterMs: 5 })).toMatchObject({ retryAfterMs: 5 });
  });
});

describe('a retry', () => {
  const worth = (message: string, status?: number) =>
    isTransient(classifyFailure({ message, ...(status === undefined ? {} : { status }) }));

  it.each<[string, number?]>([
    ['Overloaded', 529],
    ['Service unavailable', 503],
    ['Slow down', 429],
    ['Internal', 500],
    ['Bad gateway', 502],
    ['Timeout', 408],
    ['terminated'],
    ['Provider returned error'],
    ['An internal error has occurred (api_error)'],
    ['server_error: please retry your request'],
    ['Connection error: socket hang up'],
    ['upstream connect error or disconnect/reset before headers'],
    ['request timed out'],
    ['503 no healthy upstream'],
  ])('is worthwhile after: %s (%s)', (message, status) => {
    expect(worth(message, status)).toBe(true);
  });

  it.each<[string, number?]>([
    ['bad thing', 400],
    ['Not found', 404],
    ['a request that mentions a timeout', 400],
    ['invalid key', 401],
    ['prompt is too long', 400],
    ['You exceeded your current quota, please check your plan and billing details', 429],
    ['insufficient_quota', 429],
    ['Your credit balance is too low', 500],
    ['something else'],
  ])('is not worthwhile after: %s (%s)', (message, status) => {
    expect(worth(message, status)).toBe(false);
  });

  it.each(['stalled', 'connection_lost'] as const)('is worthwhile after %s, whatever the message', (code) => {
    expect(isTransient({ code, status: undefined, message: 'x' })).toBe(true);
  });
});

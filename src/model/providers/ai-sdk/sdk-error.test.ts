import { describe, expect, it } from 'vitest';
import { sdkFailure } from './sdk-error.ts';

const named = (name: string, own: object = {}) => Object.assign(new Error('Words'), { name, ...own });
const because = (code: string) => Object.assign(new Error('It broke'), { code });

describe('an error of a package', () => {
  it.each([
    ['a plain one', new Error('Bad luck'), { code: 'model_error', message: 'Bad luck' }],
    ['a string', 'Too many requests', { code: 'rate_limited', message: 'Too many requests' }],
    [
      'an object of a provider',
      { type: 'overloaded_error', message: 'Busy' },
      { code: 'overloaded', message: 'Busy (overloaded_error)' },
    ],
    ['an odd object', { oh: 'no' }, { code: 'model_error', message: '{"oh":"no"}' }],
    ['nothing', undefined, { code: 'model_error', message: 'undefined' }],
    ['a missing key', named('AI_LoadAPIKeyError'), { code: 'auth_failed', message: 'Words' }],
    [
      'a refusal',
      named('AI_APICallError', {
        statusCode: 429,
        responseBody: '{"error":{"message":"Later","type":"limit"}}',
        responseHeaders: { 'retry-after-ms': '20' },
      }),
      { code: 'rate_limited', status: 429, message: '429 Later (limit)', retryAfterMs: 20 },
    ],
    [
      'a refusal without words',
      named('AI_APICallError', { statusCode: 502, responseBody: '<html>' }),
      { code: 'model_error', status: 502, message: '502 Words' },
    ],
    [
      'a broken connection',
      named('AI_APICallError', {
        statusCode: 200,
        cause: new TypeError('terminated', { cause: because('ECONNRESET') }),
      }),
      { code: 'connection_lost', message: 'Connection error: It broke (ECONNRESET)', status: undefined },
    ],
    ['a fetch that failed', new TypeError('fetch failed'), { code: 'connection_lost' }],
    [
      'an early end',
      new Error('Response stream ended without a finish reason.'),
      { code: 'connection_lost', message: 'The stream ended before the answer did' },
    ],
  ])('may be %s', (_what, error, expected) => {
    expect(sdkFailure(error)).toMatchObject(expected);
  });

  it('is truncated', () => {
    expect(sdkFailure(new Error('x'.repeat(100_000))).message).toHaveLength(501);
  });
});

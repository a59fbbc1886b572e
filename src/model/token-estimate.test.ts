import { expect, it } from 'vitest';
import { modelNamed, scriptedRequest } from './scripted/testing/call.ts';
import { maxOutputTokens } from './token-estimate.ts';

const model = { ...modelNamed('scripted'), contextWindow: 20_000, maxTokens: 8000 };
const limitFor = (characters: number, own: object = {}) =>
  maxOutputTokens(
    scriptedRequest({
      model,
      messages: [{ role: 'user', content: 'x'.repeat(characters), timestamp: 0 }],
      tools: [],
      ...own,
    }),
  );

it('the output limit is the lowest of the model limit, the request limit and the rest of the context window', () => {
  expect(limitFor(0)).toBe(8000);
  expect(limitFor(0, { maxTokens: 500 })).toBe(500);
  expect(limitFor(0, { maxTokens: 9000 })).toBe(8000);
  expect(limitFor(4 * 15_000)).toBeLessThanOrEqual(5000);
  expect(limitFor(4 * 30_000)).toBe(4096);
});

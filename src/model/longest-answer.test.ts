import { expect, it } from 'vitest';
import { longestAnswer } from './longest-answer.ts';
import { modelNamed, question } from './scripted/testing/rehearse.ts';

const model = { ...modelNamed('scripted'), contextWindow: 20_000, maxTokens: 8000 };
const asked = (characters: number, own: object = {}) =>
  longestAnswer(
    question({ model, messages: [{ role: 'user', content: 'x'.repeat(characters), timestamp: 0 }], tools: [], ...own }),
  );

it('is what the model can give, what is wanted of it, or what the context has left', () => {
  expect(asked(0)).toBe(8000);
  expect(asked(0, { maxTokens: 500 })).toBe(500);
  expect(asked(0, { maxTokens: 9000 })).toBe(8000);
  expect(asked(4 * 15_000)).toBeLessThanOrEqual(5000);
  expect(asked(4 * 30_000)).toBe(4096);
});

import { expect, it } from 'vitest';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { limitsFor } from './limits.ts';

const model = (contextWindow: number) => ({ contextWindow }) as Model;

it.each([
  [200_000, undefined, { reserveTokens: 16_384, keepRecentTokens: 20_000 }],
  [200_000, { reserveTokens: 1000, keepRecentTokens: 50 }, { reserveTokens: 1000, keepRecentTokens: 50 }],
  [8192, undefined, { reserveTokens: 2048, keepRecentTokens: 3072 }],
  [8192, { reserveTokens: 100 }, { reserveTokens: 100, keepRecentTokens: 4046 }],
  [8192, { reserveTokens: 9000, keepRecentTokens: 9000 }, { reserveTokens: 2048, keepRecentTokens: 3072 }],
  [0, undefined, { reserveTokens: 0, keepRecentTokens: 0 }],
])('a window of %i with the settings %o has the limits %o', (window, settings, limits) => {
  expect(limitsFor(model(window), settings)).toEqual(limits);
});

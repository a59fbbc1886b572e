import { expect, test } from 'vitest';
import { scriptedModels } from './models.ts';

const common = {
  api: 'tau-scripted',
  provider: 'tau',
  baseUrl: 'tau:scripted',
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  supportsTools: true,
};

test('there are three scripted models', () => {
  expect(scriptedModels).toEqual([
    {
      ...common,
      id: 'scripted',
      name: 'Scripted',
      reasoning: true,
      thinking: true,
      input: ['text', 'image'],
      supportsImages: true,
      contextWindow: 200000,
      maxTokens: 32000,
    },
    {
      ...common,
      id: 'scripted-small',
      name: 'Scripted (small)',
      reasoning: false,
      thinking: false,
      input: ['text'],
      supportsImages: false,
      contextWindow: 8192,
      maxTokens: 2048,
    },
    {
      ...common,
      id: 'scripted-slow',
      name: 'Scripted (slow)',
      reasoning: true,
      thinking: true,
      thinkingLevelMap: { xhigh: 'xhigh', max: 'max' },
      input: ['text', 'image'],
      supportsImages: true,
      contextWindow: 1000000,
      maxTokens: 64000,
    },
  ]);
});

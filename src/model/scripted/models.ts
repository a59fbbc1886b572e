import type { Model } from '../../protocol/generated/vocabulary.ts';

/** The models that need no key and no network. */
export const scriptedModels: readonly Model[] = [
  scriptedModel({
    id: 'scripted',
    name: 'Scripted',
    reasoning: true,
    input: ['text', 'image'],
    contextWindow: 200_000,
    maxTokens: 32_000,
  }),
  scriptedModel({
    id: 'scripted-small',
    name: 'Scripted (small)',
    reasoning: false,
    input: ['text'],
    contextWindow: 8_192,
    maxTokens: 2_048,
  }),
  scriptedModel({
    id: 'scripted-slow',
    name: 'Scripted (slow)',
    reasoning: true,
    input: ['text', 'image'],
    contextWindow: 1_000_000,
    maxTokens: 64_000,
    thinkingLevelMap: { xhigh: 'xhigh', max: 'max' },
  }),
];

type OwnFields = Pick<
  Model,
  'id' | 'name' | 'reasoning' | 'input' | 'contextWindow' | 'maxTokens' | 'thinkingLevelMap'
>;

function scriptedModel(own: OwnFields): Model {
  return {
    ...own,
    api: 'tau-scripted',
    provider: 'tau',
    baseUrl: 'tau:scripted',
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    supportsImages: own.input.includes('image'),
    supportsTools: true,
    thinking: own.reasoning,
  };
}

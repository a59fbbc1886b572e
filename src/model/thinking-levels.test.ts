import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import { isThinkingLevel, nearestLevel, nextLevel, supportedLevels } from './thinking-levels.ts';

const every: readonly ThinkingLevel[] = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const usual = every.slice(0, 5);

const modelWith = (thinkingLevelMap?: Record<string, unknown>): Model => ({
  id: 'm',
  name: 'M',
  api: 'a',
  provider: 'p',
  reasoning: true,
  input: ['text'],
  contextWindow: 1000,
  maxTokens: 100,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...(thinkingLevelMap ? { thinkingLevelMap } : {}),
});
const plain = { ...modelWith({ xhigh: 'x' }), reasoning: false };

const anyModel = fc
  .dictionary(fc.constantFrom(...every), fc.constantFrom(null, 'own-name'))
  .map((map) => modelWith(map))
  .filter((model) => supportedLevels(model).length > 0);
const anyLevel = fc.constantFrom(...every);

it('[L10 L11] a model has the usual levels, and special ones only if its map names them', () => {
  expect(supportedLevels(modelWith())).toEqual(usual);
  expect(supportedLevels(modelWith({ xhigh: 'xhigh' }))).toEqual([...usual, 'xhigh']);
  expect(supportedLevels(modelWith({ max: 'huge' }))).toEqual([...usual, 'max']);
  expect(supportedLevels(modelWith({ xhigh: null, max: 3 }))).toEqual(usual);
});

it('[L11] a model may lack usual levels', () => {
  expect(supportedLevels(modelWith({ off: null, minimal: null, low: 'cheap' }))).toEqual(['low', 'medium', 'high']);
});

it('[L16 L17] a model without reasoning has only the level off', () => {
  expect(supportedLevels(plain)).toEqual(['off']);
  expect(nextLevel(plain, 'off')).toBeUndefined();
  expect(every.map((level) => nearestLevel(plain, level))).toEqual(every.map(() => 'off'));
});

it('[L13] a missing level becomes the next one up, else the next one down', () => {
  const model = modelWith({ off: null, low: null, high: null });

  expect(every.map((level) => [level, nearestLevel(model, level)])).toEqual([
    ['off', 'minimal'],
    ['minimal', 'minimal'],
    ['low', 'medium'],
    ['medium', 'medium'],
    ['high', 'medium'],
    ['xhigh', 'medium'],
    ['max', 'medium'],
  ]);
});

it('[L13] the nearest level is always a level of the model, and the requested one if the model has it', () => {
  fc.assert(
    fc.property(anyModel, anyLevel, (model, requested) => {
      const levels = supportedLevels(model);
      const nearest = nearestLevel(model, requested);

      expect(levels).toContain(nearest);
      if (levels.includes(requested)) expect(nearest).toBe(requested);
      const between = levels.filter((level) => every.indexOf(level) >= every.indexOf(requested));
      expect(nearest).toBe(between[0] ?? levels.at(-1));
    }),
  );
});

it('[L15] cycling visits every level once and returns', () => {
  fc.assert(
    fc.property(anyModel, (model) => {
      const levels = supportedLevels(model);
      const start = levels[0] ?? 'off';
      const visited: ThinkingLevel[] = [];
      let level: ThinkingLevel | undefined = start;
      for (let step = 0; step < levels.length && level !== undefined; step++) {
        visited.push(level);
        level = nextLevel(model, level);
      }

      if (levels.length === 1) expect(level).toBeUndefined();
      else expect([visited, level]).toEqual([levels, start]);
    }),
  );
});

it('[L14] only the names of levels are levels', () => {
  expect([...every, 'brief', 'High', '', 'toString'].filter(isThinkingLevel)).toEqual(every);
});

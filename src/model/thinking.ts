import { choices } from '../protocol/generated/choices.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';

const order: readonly ThinkingLevel[] = choices.ThinkingLevel;

/** Levels that only models have which say so. */
const special: ReadonlySet<ThinkingLevel> = new Set(['xhigh', 'max']);

/** Whether a word names a level; what other programs stored may not. */
export const isLevel = (word: string): word is ThinkingLevel => (order as readonly string[]).includes(word);

/** The thinking levels of a model, from none to most. */
export function levelsOf(model: Model): ThinkingLevel[] {
  if (!model.reasoning) return ['off'];
  const map = model.thinkingLevelMap ?? {};
  return order.filter((level) => (special.has(level) ? typeof map[level] === 'string' : map[level] !== null));
}

/** The level itself where the model has it, else the next one up, else the highest below. */
export function nearestLevel(model: Model, wanted: ThinkingLevel): ThinkingLevel {
  const levels = levelsOf(model);
  const rank = order.indexOf(wanted);
  return levels.find((level) => order.indexOf(level) >= rank) ?? levels.at(-1) ?? 'off';
}

/** The level after this one, going round; undefined for a model that does not think. */
export function nextLevel(model: Model, current: ThinkingLevel): ThinkingLevel | undefined {
  const levels = levelsOf(model);
  if (levels.length < 2) return undefined;
  return levels[(levels.indexOf(current) + 1) % levels.length];
}

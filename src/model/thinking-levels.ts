import { choices } from '../protocol/generated/choices.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';

const levelOrder: readonly ThinkingLevel[] = choices.ThinkingLevel;

// Levels that a model has only if its level map names them.
const optInLevels: ReadonlySet<ThinkingLevel> = new Set(['xhigh', 'max']);

/** Whether a stored value is the name of a thinking level. */
export const isThinkingLevel = (value: string): value is ThinkingLevel =>
  (levelOrder as readonly string[]).includes(value);

/** The thinking levels of a model, from none to most. */
export function supportedLevels(model: Model): ThinkingLevel[] {
  if (!model.reasoning) return ['off'];
  const map = model.thinkingLevelMap ?? {};
  return levelOrder.filter((level) => (optInLevels.has(level) ? typeof map[level] === 'string' : map[level] !== null));
}

/** The level itself if the model has it, else the next one up, else the highest below. */
export function nearestLevel(model: Model, requested: ThinkingLevel): ThinkingLevel {
  const levels = supportedLevels(model);
  const rank = levelOrder.indexOf(requested);
  return levels.find((level) => levelOrder.indexOf(level) >= rank) ?? levels.at(-1) ?? 'off';
}

/** The name that a model has for a level; undefined if it has none of its own. */
export function levelName({ thinkingLevelMap }: Model, level: ThinkingLevel): string | undefined {
  const name = thinkingLevelMap?.[level];
  return typeof name === 'string' ? name : undefined;
}

/** The name of a level for an API that has only low, medium and high. */
export const effortName = (model: Model, level: Exclude<ThinkingLevel, 'off'>): string =>
  levelName(model, level) ?? (level === 'minimal' ? 'low' : level === 'xhigh' || level === 'max' ? 'high' : level);

/** The next level, cyclically; undefined for a model without thinking. */
export function nextLevel(model: Model, current: ThinkingLevel): ThinkingLevel | undefined {
  const levels = supportedLevels(model);
  if (levels.length < 2) return undefined;
  return levels[(levels.indexOf(current) + 1) % levels.length];
}

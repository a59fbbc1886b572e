import type { Model, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { ModelRequest } from '../../request.ts';

/** Whether a model is told how much to think in words, and gives a seal that must come back with every call. */
export const isThirdOrLater = ({ id }: Model): boolean =>
  Number(/gemini-(\d+)/.exec(id)?.[1]) >= 3 || /gemini-[a-z-]+-latest/.test(id);

const isPro = ({ id }: Model) => /-pro\b/.test(id);
const isLite = ({ id }: Model) => /-flash-lite\b/.test(id);

/** How much a model is told to think; undefined for one that does not. Not all of them can leave it altogether. */
export function thinkingConfig(request: ModelRequest): object | undefined {
  const { model, thinkingLevel: level } = request;
  if (!model.reasoning) return undefined;
  const shown = level === 'off' ? {} : { includeThoughts: true };
  const word = model.thinkingLevelMap?.[level];
  if (typeof word === 'string') return { ...shown, thinkingLevel: word };
  if (isThirdOrLater(model)) return { ...shown, thinkingLevel: isPro(model) ? proWords[level] : words[level] };
  return { ...shown, thinkingBudget: request.thinkingBudgets?.[level] ?? budget(model, level) };
}

const words: Readonly<Record<ThinkingLevel, string>> = {
  off: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

const proWords: Readonly<Record<ThinkingLevel, string>> = {
  ...words,
  off: 'LOW',
  minimal: 'LOW',
  medium: 'HIGH',
};

function budget(model: Model, level: ThinkingLevel): number {
  switch (level) {
    case 'off':
      return isPro(model) ? 128 : 0;
    case 'minimal':
      return isLite(model) ? 512 : 128;
    case 'low':
      return 2048;
    case 'medium':
      return 8192;
    default:
      return isPro(model) ? 32768 : 24576;
  }
}

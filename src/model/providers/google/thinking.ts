import type { Model, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { ModelRequest } from '../../request.ts';

/** Whether a model takes named thinking levels and requires signatures on calls. */
export const isGemini3OrLater = ({ id }: Model): boolean =>
  Number(/gemini-(\d+)/.exec(id)?.[1]) >= 3 || /gemini-[a-z-]+-latest/.test(id);

const isPro = ({ id }: Model) => /-pro\b/.test(id);
const isLite = ({ id }: Model) => /-flash-lite\b/.test(id);

interface ThinkingConfig {
  readonly includeThoughts?: true;
  readonly thinkingLevel?: string;
  readonly thinkingBudget?: number;
}

/** The thinking settings of a request; undefined without reasoning. Some models cannot turn thinking off. */
export function thinkingConfig(request: ModelRequest): ThinkingConfig | undefined {
  const { model, thinkingLevel: level } = request;
  if (!model.reasoning) return undefined;
  const visibility = level === 'off' ? {} : { includeThoughts: true as const };
  const levelName = model.thinkingLevelMap?.[level];
  if (typeof levelName === 'string') return { ...visibility, thinkingLevel: levelName };
  if (isGemini3OrLater(model))
    return { ...visibility, thinkingLevel: isPro(model) ? proLevelNames[level] : levelNames[level] };
  return { ...visibility, thinkingBudget: request.thinkingBudgets?.[level] ?? defaultBudget(model, level) };
}

const levelNames: Readonly<Record<ThinkingLevel, string>> = {
  off: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

const proLevelNames: Readonly<Record<ThinkingLevel, string>> = {
  ...levelNames,
  off: 'LOW',
  minimal: 'LOW',
  medium: 'HIGH',
};

function defaultBudget(model: Model, level: ThinkingLevel): number {
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

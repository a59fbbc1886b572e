import { Refusal } from '../../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import { ANYTHING, matchesSteps, type PatternStep } from '../../protocol/matching/wildcards.ts';
import { isThinkingLevel } from '../thinking-levels.ts';
import { defaultModel } from './default-models.ts';

/** A model that a pattern matched, with the thinking level in the pattern. */
export interface ModelMatch {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel;
}

/** A pattern and the models that it may match. */
export interface ModelQuery {
  readonly pattern: string;
  readonly provider?: string | undefined;
  /** In order of preference. */
  readonly models: readonly Model[];
  /** All known providers, even those without known models. */
  readonly providers: readonly string[];
}

/**
 * Finds the model for `--model`: `id`, `provider/id` or a part of an id or name, with an optional `:level`. An unknown
 * id of a known provider is used as it stands, with the properties of the provider's default model and a warning.
 */
export function findByPattern(query: ModelQuery): ModelMatch & { readonly warning?: string } {
  const { pattern, models } = query;
  const provider = providerOf(query);
  const providerModels = provider === undefined ? models : models.filter((model) => model.provider === provider);
  // An id may look like `provider/id`, so exact ids match everywhere unless the provider is given.
  const exactCandidates = query.provider === undefined ? models : providerModels;
  const found = matchWithLevel(
    pattern,
    (text) => exactMatch(text, exactCandidates) ?? closest(stripProvider(provider, text), providerModels),
  );
  if (found) return found;

  const { text: id, level } = splitLevel(stripProvider(provider, pattern));
  const base = provider !== undefined && id !== '' ? defaultModel(provider, models) : undefined;
  if (!base) throw notFound(`Model "${pattern}" not found. Use --list-models to see available models.`);
  return {
    model: { ...base, id, name: id },
    ...(level === undefined ? {} : { thinkingLevel: level }),
    warning: `Model "${id}" not found for provider "${base.provider}". Using custom model id.`,
  };
}

/** The models that a list of patterns matches, in its order, each once. Invalid patterns yield warnings. */
export function matchPatterns(patterns: readonly string[], models: readonly Model[]) {
  const scope = new Map<string, ModelMatch>();
  const warnings: string[] = [];
  for (const pattern of patterns) {
    const { choices, warning } = isGlob(pattern) ? globMatches(pattern, models) : lenientMatch(pattern, models);
    if (warning !== undefined) warnings.push(warning);
    if (choices.length === 0) warnings.push(`No models match pattern "${pattern}".`);
    for (const choice of choices) {
      const name = fullName(choice.model);
      if (!scope.has(name)) scope.set(name, choice);
    }
  }
  return { choices: [...scope.values()], warnings };
}

// The given provider, or the one before the first slash of the pattern.
function providerOf({ pattern, provider, providers }: ModelQuery): string | undefined {
  const named = provider ?? pattern.slice(0, Math.max(0, pattern.indexOf('/')));
  const known = providers.find((one) => one === named) ?? providers.find((one) => equalsIgnoringCase(one, named));
  if (provider !== undefined && known === undefined)
    throw notFound(`Unknown provider "${provider}". Use --list-models to see available providers/models.`);
  return known;
}

function stripProvider(provider: string | undefined, text: string): string {
  const prefix = `${provider}/`;
  return provider !== undefined && equalsIgnoringCase(text.slice(0, prefix.length), prefix)
    ? text.slice(prefix.length)
    : text;
}

type FindModel = (text: string) => Model | undefined;

// Tries the whole text first, then the text before a thinking level.
function matchWithLevel(text: string, match: FindModel): ModelMatch | undefined {
  const model = match(text);
  if (model) return { model };
  const { text: before, level } = splitLevel(text);
  const found = level === undefined ? undefined : matchWithLevel(before, match);
  return found && level !== undefined ? { model: found.model, thinkingLevel: level } : undefined;
}

function splitLevel(text: string): { readonly text: string; readonly level?: ThinkingLevel } {
  const colon = text.lastIndexOf(':');
  const suffix = text.slice(colon + 1);
  return colon >= 0 && isThinkingLevel(suffix) ? { text: text.slice(0, colon), level: suffix } : { text };
}

function globMatches(pattern: string, models: readonly Model[]): { choices: ModelMatch[]; warning?: string } {
  const { text, level } = splitLevel(pattern);
  const isMatch = modelGlob(text);
  const matching = models.filter((model) => isMatch(fullName(model)) || isMatch(model.id));
  return { choices: matching.map((model) => (level === undefined ? { model } : { model, thinkingLevel: level })) };
}

// Ignores an invalid level; only `--model` rejects it.
function lenientMatch(pattern: string, models: readonly Model[]): { choices: ModelMatch[]; warning?: string } {
  const found = matchWithLevel(pattern, (text) => closest(text, models));
  if (found) return { choices: [found] };
  const colon = pattern.lastIndexOf(':');
  if (colon < 0) return { choices: [] };
  const { choices } = lenientMatch(pattern.slice(0, colon), models);
  if (choices.length === 0) return { choices };
  const warning = `Invalid thinking level "${pattern.slice(colon + 1)}" in pattern "${pattern}". Using default instead.`;
  return { choices: choices.map(({ model }) => ({ model })), warning };
}

function closest(text: string, models: readonly Model[]): Model | undefined {
  if (text === '') return undefined;
  const whole = exactMatch(text, models);
  if (whole) return whole;
  const part = text.toLowerCase();
  const matching = models.filter(({ id, name }) => [id, name].some((field) => field.toLowerCase().includes(part)));
  const aliases = matching.filter(({ id }) => id.endsWith('-latest') || !/-\d{8}$/.test(id));
  const [best] = (aliases.length > 0 ? aliases : matching).toSorted((a, b) => b.id.localeCompare(a.id, 'en'));
  return best;
}

// Exact case takes precedence, and a full name over an id.
function exactMatch(text: string, models: readonly Model[]): Model | undefined {
  return (
    models.find((model) => fullName(model) === text) ??
    models.find(({ id }) => id === text) ??
    models.find((model) => equalsIgnoringCase(fullName(model), text)) ??
    models.find(({ id }) => equalsIgnoringCase(id, text))
  );
}

const equalsIgnoringCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const fullName = ({ provider, id }: Model) => `${provider}/${id}`;

const notFound = (message: string) => new Refusal('model_not_found', message);

const notSlash = (character: string) => character !== '/';

const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern);

/**
 * Compiles a pattern for names such as `provider/id`, ignoring case. `*` and `?` stop at a `/`, `**` does not, `[a-z]`
 * and `[!a-z]` match one character. Matching takes at most pattern length times name length.
 */
export function modelGlob(pattern: string): (name: string) => boolean {
  const steps = [...pattern.toLowerCase().matchAll(/\*+|\?|\[([!^]?)(\]?[^\]]*)\]|./gsu)].map(stepOf);
  return (name) => matchesSteps(steps, name.toLowerCase());
}

function stepOf([source, negation, members]: RegExpExecArray): PatternStep<string> {
  if (source === '*') return { matches: notSlash, repeats: true };
  if (source.startsWith('**')) return ANYTHING;
  if (source === '?') return { matches: notSlash };
  if (members === undefined) return { matches: (character) => character === source };
  const ranges = [...members.matchAll(/(.)-(.)|./gsu)].map(([whole, from = whole, to = whole]) => ({ from, to }));
  const isMember = (character: string) => ranges.some(({ from, to }) => from <= character && character <= to);
  return { matches: (character) => notSlash(character) && isMember(character) === (negation === '') };
}

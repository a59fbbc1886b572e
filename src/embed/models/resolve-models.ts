import { findByPattern, type ModelMatch, matchPatterns } from '../../model/registry/model-pattern.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import type { ModelRuntime } from './model-runtime.ts';

/** A model with the thinking level that its pattern names. */
export type ScopedModel = ModelMatch;

export interface ModelScopeDiagnostic {
  readonly type: 'warning';
  readonly message: string;
}

export interface ResolveCliModelResult {
  readonly model: Model | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly warning: string | undefined;
  readonly error: string | undefined;
}

interface CliModel {
  readonly cliProvider?: string | undefined;
  /** `id`, `provider/id` or a part of an id, with an optional `:level`. */
  readonly cliModel?: string | undefined;
  readonly cliThinking?: ThinkingLevel | undefined;
  readonly modelRuntime: ModelRuntime;
}

/** Finds the model that a user names, as `--model` does; an unknown one is an error of the result. */
export function resolveCliModel({
  cliProvider: provider,
  cliModel,
  cliThinking,
  modelRuntime,
}: CliModel): ResolveCliModelResult {
  if (cliModel === undefined) return { model: undefined, warning: undefined, error: undefined };
  const models = modelRuntime.getModels();
  const providers = [...new Set(models.map((model) => model.provider))];
  const query = { pattern: cliModel, provider, providers };
  try {
    const usable = modelRuntime.getAvailableSnapshot();
    const found = firstWithoutWarning([usable, models].map((list) => () => findByPattern({ ...query, models: list })));
    const { model, thinkingLevel = cliThinking, warning } = found;
    return { model, thinkingLevel, warning, error: undefined };
  } catch (error) {
    return { model: undefined, warning: undefined, error: messageOf(error) };
  }
}

type Match = ReturnType<typeof findByPattern>;

/** The first match that is exact; otherwise the last one, whose error is thrown. */
function firstWithoutWarning(searches: readonly (() => Match)[]): Match {
  for (const search of searches.slice(0, -1)) {
    try {
      const match = search();
      if (match.warning === undefined) return match;
    } catch {
      // A wider search may find it.
    }
  }
  const last = searches.at(-1);
  if (!last) throw new Error('No models were given');
  return last();
}

/** The models with a key that patterns match, in their order. */
export async function resolveModelScopeWithDiagnostics(
  patterns: readonly string[],
  modelRuntime: ModelRuntime,
): Promise<{ scopedModels: ScopedModel[]; diagnostics: ModelScopeDiagnostic[] }> {
  const { choices, warnings } = matchPatterns(patterns, await modelRuntime.getAvailable());
  return {
    scopedModels: [...choices],
    diagnostics: warnings.map((message) => ({ type: 'warning' as const, message })),
  };
}

import { streamTimeouts } from '../../model/endpoint.ts';
import {
  type FolderOptions,
  ModelRegistry,
  type ModelSelector,
  type ResolvedModel,
} from '../../model/registry/registry.ts';
import type { Script } from '../../model/scripted/script.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import type { ModelName, UnresolvedModel } from '../../session/model-choice.ts';
import { type AddonOptions, hasExtensions } from '../addons/detect.ts';
import type { Project } from '../project.ts';

/** Model options of the caller. */
export interface ModelOptions {
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly project: Project;
  readonly requested?: ModelSelector | undefined;
  /** Only models that match these patterns are cycled. */
  readonly patterns?: readonly string[] | undefined;
  /** A key for this process only, for the first matching model. */
  readonly apiKey?: string | undefined;
  readonly offline?: boolean | undefined;
  /** Undefined if the agent has no add-ons, so that no model can be added later. */
  readonly addons?: AddonOptions | undefined;
  readonly script?: Script | undefined;
  /** Used instead of a new one. */
  readonly registry?: ModelRegistry | undefined;
}

/** The model registry, and the requested model. */
export interface Models {
  readonly registry: ModelRegistry;
  readonly requested?: ModelName | undefined;
  /** The unresolved request, if an extension may still add its model. */
  readonly unresolved?: UnresolvedModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly warnings: readonly string[];
}

/** A problem in a model file may be the reason for a missing model. */
const withFileProblems =
  (problems: readonly string[]) =>
  (error: unknown): never => {
    if (!(error instanceof Refusal) || problems.length === 0) throw error;
    throw new Refusal(error.code, [error.message, ...problems].join(' '));
  };

/** The project settings that the model registry depends on. */
export const registryPlaceOf = ({ settings, trusted, cwd }: Project): FolderOptions => ({
  timeouts: streamTimeouts(settings),
  trustedFolder: trusted ? cwd : undefined,
});

/** Loads the models. Rejects with a `Refusal` if the requested one is unknown and no extension can add it. */
export async function openModels({ agentDir, env, project, ...options }: ModelOptions): Promise<Models> {
  const { settings } = project;
  const folderOptions = registryPlaceOf(project);
  const { offline, script } = options;
  const registry = options.registry ?? new ModelRegistry({ agentDir, env, folderOptions, offline, script });
  registry.folderOptions = folderOptions;
  await registry.load();
  // A model of the settings must be found, or reported missing by name.
  if (settings.defaultProvider !== undefined && !options.requested)
    await registry.loadProvider(settings.defaultProvider);
  const { resolved, unresolved } = await resolveRequested(registry, { agentDir, project, ...options });
  const patterns = options.patterns ?? settings.enabledModels ?? [];
  const warnings = patterns.length > 0 ? await registry.setScope(patterns, options.apiKey) : [];
  return {
    registry,
    requested: resolved && { provider: resolved.model.provider, id: resolved.model.id },
    unresolved,
    thinkingLevel: resolved?.thinkingLevel,
    warnings: [...registry.problems, ...(resolved?.warning === undefined ? [] : [resolved.warning]), ...warnings],
  };
}

/** Resolves the requested model, or keeps the request for later. */
async function resolveRequested(
  registry: ModelRegistry,
  { agentDir, project, requested, addons }: Pick<ModelOptions, 'agentDir' | 'project' | 'requested' | 'addons'>,
): Promise<{ resolved?: ResolvedModel; unresolved?: UnresolvedModel }> {
  if (!requested) return {};
  try {
    return { resolved: await registry.resolve(requested).catch(withFileProblems(registry.problems)) };
  } catch (error) {
    const { cwd, settings } = project;
    const mayCome = addons && hasExtensions({ agentDir, cwd, settings, options: addons });
    if (!mayCome || !(error instanceof Refusal)) throw error;
    return { unresolved: { request: requested, notice: error.message } };
  }
}

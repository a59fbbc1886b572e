import { streamTimeouts } from '../model/endpoint.ts';
import { type ResolvedModel, ModelRegistry, type ModelSelector, type FolderOptions } from '../model/registry/registry.ts';
import type { Script } from '../model/scripted/script.ts';
import { Refusal } from '../protocol/errors.ts';
import type { ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { UnresolvedModel, ModelName } from '../session/model-choice.ts';
import { hasExtensions } from './addons/detect.ts';
import type { AddonOptions } from './addons/addon-options.ts';
import type { Project } from './project.ts';

/** What whoever opens the agent says about models. */
export interface ModelOptions {
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly project: Project;
  readonly requested?: ModelSelector | undefined;
  /** Only the models that these patterns mean are cycled. */
  readonly patterns?: readonly string[] | undefined;
  /** A key for this process only, for the first of these models. */
  readonly apiKey?: string | undefined;
  readonly offline?: boolean | undefined;
  /** What is added to the agent; undefined where nothing is, so that no model can come later. */
  readonly addons?: AddonOptions | undefined;
  readonly script?: Script | undefined;
}

/** The models there are, and the one that was asked for. */
export interface Models {
  readonly registry: ModelRegistry;
  readonly requested?: ModelName | undefined;
  /** What was asked for instead, where it may come with an extension. */
  readonly unresolved?: UnresolvedModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly warnings: readonly string[];
}

/** A model may be missing because of what is wrong with the file that should have it. */
const withFileProblems =
  (problems: readonly string[]) =>
  (error: unknown): never => {
    if (!(error instanceof Refusal) || problems.length === 0) throw error;
    throw new Refusal(error.code, [error.message, ...problems].join(' '));
  };

/** What of a folder matters to models. */
export const registryPlaceOf = ({ settings, trusted, cwd }: Project): FolderOptions => ({
  timeouts: streamTimeouts(settings),
  trustedFolder: trusted ? cwd : undefined,
});

/**
 * Learns which models there are. Rejects with a `Refusal` when the one that was asked for is none of them, and no extension
 * can bring it.
 */
export async function openModels({ agentDir, env, project, ...options }: ModelOptions): Promise<Models> {
  const { settings } = project;
  const registry = new ModelRegistry({
    agentDir,
    env,
    folderOptions: registryPlaceOf(project),
    offline: options.offline,
    script: options.script,
  });
  await registry.load();
  // A model that the settings name must be found, or missed by its name.
  if (settings.defaultProvider !== undefined && !options.requested) await registry.loadProvider(settings.defaultProvider);
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

/** What a wish comes to now, or why it has to wait. */
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

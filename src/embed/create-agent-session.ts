import type { EngineOptions } from '../engine/open.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { SessionStart } from '../session/hooks.ts';
import { AgentSession } from './agent-session.ts';
import { EmbedContext } from './context.ts';
import type { LoadedExtension } from './extension-runner.ts';
import { openLocalEngine } from './local-engine.ts';
import { loaderOptions, type ResourceLoader } from './resource-loader.ts';
import { SessionManager } from './session-manager.ts';
import { modelPatternOf, type NamedModel, providerAndId } from './session-models.ts';
import { type SettingsSource, settingsFrom } from './settings-manager.ts';
import { resolveTools, type ToolOptions } from './tool-options.ts';

/** The options of pi's `createAgentSession`, and those that tau adds. */
export interface CreateAgentSessionOptions
  extends ToolOptions,
    Partial<Pick<EngineOptions, 'env' | 'trust' | 'hooks'>> {
  /** Defaults to the folder of the session, or the current one. */
  readonly cwd?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly model?: NamedModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** The models that `cycleModel` cycles through. */
  readonly scopedModels?: readonly {
    readonly model: Pick<Model, 'provider' | 'id'>;
    readonly thinkingLevel?: ThinkingLevel;
  }[];
  /** Replaces the resources found in folders. */
  readonly resourceLoader?: ResourceLoader | undefined;
  /** Defaults to a new stored session. */
  readonly sessionManager?: SessionManager | undefined;
  readonly settingsManager?: SettingsSource | undefined;
  /** Returns the API key of `model`. */
  readonly authStorage?: KeySource | undefined;
  /** Accepted without effect: models are read from the catalogue and models.json. */
  readonly modelRegistry?: object | undefined;
  readonly modelRuntime?: object | undefined;
  /** The start event for extensions. */
  readonly sessionStartEvent?: SessionStart | undefined;
  /** A script for the built-in model. */
  readonly script?: string | undefined;
}

export interface KeySource {
  getApiKey?(provider: string): string | undefined | Promise<string | undefined>;
}

export interface CreateAgentSessionResult {
  readonly session: AgentSession;
  readonly extensionsResult: {
    readonly extensions: LoadedExtension[];
    readonly errors: { readonly path: string; readonly error: string }[];
  };
  /** Why the requested model is not used. */
  readonly modelFallbackMessage?: string;
}

/** Opens an agent in this process under pi's names. Rejects with a `Refusal`. */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> {
  const manager = options.sessionManager ?? SessionManager.create();
  if (!(manager instanceof SessionManager)) throw new Refusal('not_supported', FOREIGN_MANAGER);
  const cwd = manager.resolveCwd(options.cwd);
  const tools = resolveTools(options);
  const { prompt, addons } = loaderOptions(options.resourceLoader);
  const { agentDir, env, script, trust, hooks, thinkingLevel } = options;
  const applySettings = settingsFrom(options.settingsManager);
  const engine = await openLocalEngine({
    cwd,
    agentDir,
    env,
    script,
    trust,
    hooks,
    thinkingLevel,
    prompt,
    requested: await requestedModel(options),
    patterns: options.scopedModels?.map(modelPattern),
    sessionDirectory: manager.chosenDirectory,
    first: (directories) => manager.firstSession(directories),
    tools: tools.choice,
    addons: { ...addons, extensionFactories: tools.factories },
  });
  const context = new EmbedContext(engine, options.sessionStartEvent);
  const { agent } = engine;
  await agent.addons.start();
  applySettings(agent);
  manager.bind(() => agent.session);
  const session = AgentSession.at(context, manager, prompt);
  const { notice } = agent.session.choice;
  return {
    session,
    extensionsResult: session.resourceLoader.getExtensions(),
    ...(notice === undefined ? {} : { modelFallbackMessage: notice }),
  };
}

const FOREIGN_MANAGER =
  "sessionManager must be one of tau's own: SessionManager.create(), open(), inMemory() and others";

async function requestedModel({ model, authStorage }: CreateAgentSessionOptions) {
  const requested = modelPatternOf(model);
  if (!requested || model === undefined || !authStorage?.getApiKey) return requested;
  const apiKey = await authStorage.getApiKey(providerAndId(model).provider);
  return apiKey === undefined ? requested : { ...requested, apiKey };
}

const modelPattern = ({ model, thinkingLevel }: NonNullable<CreateAgentSessionOptions['scopedModels']>[number]) =>
  `${model.provider}/${model.id}${thinkingLevel === undefined ? '' : `:${thinkingLevel}`}`;

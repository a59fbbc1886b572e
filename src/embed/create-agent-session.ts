import type { ParentAgent } from '../engine/addons/detect.ts';
import type { Engine, EngineOptions } from '../engine/open.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { SessionStart } from '../session/hooks.ts';
import { agentDir } from '../store/agent-dir.ts';
import { AgentSession } from './agent-session.ts';
import { EmbedContext } from './context.ts';
import { openLocalEngine } from './local-engine.ts';
import { AuthStorage } from './models/auth-storage.ts';
import { type ModelRuntime, sharedRegistry } from './models/model-runtime.ts';
import { openRegistry } from './models/open-registry.ts';
import type { LoadExtensionsResult } from './resources/load-extensions.ts';
import { loaderOptions, type ResourceLoader } from './resources/resource-view.ts';
import { modelPatternOf, type NamedModel, providerAndId } from './session-models.ts';
import { SessionManager } from './sessions/session-manager.ts';
import {
  applySettings,
  type GivenSettings,
  givenSettings,
  managerFor,
  type PartialSettings,
  settingsSource,
} from './settings/session-settings.ts';
import { SettingsManager } from './settings/settings-manager.ts';
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
  /** Replaces the settings files. */
  readonly settingsManager?: SettingsManager | PartialSettings | undefined;
  /** Keys that come before those of files; of another object only `getApiKey` for `model` is called. */
  readonly authStorage?: AuthStorage | KeySource | undefined;
  /** The models, keys and providers of a `ModelRegistry`, also `ctx.modelRegistry` of an extension. */
  readonly modelRegistry?: object | undefined;
  readonly modelRuntime?: ModelRuntime | undefined;
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
  readonly extensionsResult: LoadExtensionsResult;
  /** Why the requested model is not used. */
  readonly modelFallbackMessage?: string;
}

/** Opens an agent in this process under pi's names. Rejects with a `Refusal`. */
export const createAgentSession = (options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> =>
  openAgentSession(options, undefined);

/** Opens an agent that ends with its parent, whose models, keys and environment it shares by default. */
export async function openAgentSession(
  given: CreateAgentSessionOptions,
  parent: ParentAgent | undefined,
): Promise<CreateAgentSessionResult> {
  const sessionEnd = parent?.children.sessionEnd;
  const checkParent = () => {
    if (sessionEnd?.aborted) throw new Refusal('not_supported', PARENT_ENDED);
  };
  checkParent();
  const options = parent ? { ...inherited(parent, given), ...given } : given;
  const manager = options.sessionManager ?? SessionManager.create();
  if (!(manager instanceof SessionManager)) throw new Refusal('not_supported', FOREIGN_MANAGER);
  const parts = { options, manager, parent, loader: loaderOptions(options.resourceLoader) };
  // Before the engine opens: a method of the program may throw.
  const settings = givenSettings(options.settingsManager);
  const engine = await openEngineFor(parts);
  const context = new EmbedContext(engine, options.sessionStartEvent);
  try {
    checkParent();
    // After the creation of the context, which collects the errors of extensions.
    await engine.agent.addons.start();
    checkParent();
    return openedSession(context, { ...parts, settings });
  } catch (error) {
    await context.close().catch(() => {});
    throw error;
  }
}

interface SessionParts {
  readonly options: CreateAgentSessionOptions;
  readonly manager: SessionManager;
  readonly parent: ParentAgent | undefined;
  readonly loader: ReturnType<typeof loaderOptions>;
}

async function openEngineFor({ options, manager, parent, loader }: SessionParts): Promise<Engine> {
  const cwd = manager.resolveCwd(options.cwd);
  const tools = resolveTools(options);
  const { prompt, addons } = loader;
  const { agentDir: folder, env, script, hooks, thinkingLevel, settingsManager } = options;
  return openLocalEngine({
    cwd,
    agentDir: folder,
    env,
    script,
    hooks,
    thinkingLevel,
    prompt,
    approvals: parent?.approvals(),
    trust:
      options.trust ?? (settingsManager instanceof SettingsManager ? settingsManager.isProjectTrusted() : undefined),
    settings: settingsSource(settingsManager),
    registry: registryFrom(options) ?? parent?.registry.share(),
    requested: await requestedModel(options),
    patterns: options.scopedModels?.map(modelPattern),
    sessionDirectory: manager.chosenDirectory,
    first: ({ directory }) => manager.firstSession(directory),
    tools: tools.choice,
    addons: {
      ...addons,
      ...(parent ? { ownsProcess: parent.ownsProcess } : {}),
      extensionFactories: new Map([...tools.factories, ...(addons.extensionFactories ?? [])]),
    },
  });
}

interface OpenedParts extends SessionParts {
  readonly settings: GivenSettings;
}

function openedSession(context: EmbedContext, parts: OpenedParts): CreateAgentSessionResult {
  const { agent } = context;
  const { manager, parent, loader } = parts;
  const settings = managerFor(parts.settings, agent);
  context.onClose(applySettings(settings, agent));
  manager.bind(() => agent.session);
  const session = AgentSession.at(context, { manager, settings, promptOptions: loader.prompt });
  if (parent) {
    parent.children.add(session);
    context.onClose(() => parent.children.delete(session));
  }
  const { notice } = agent.session.choice;
  return {
    session,
    extensionsResult: session.resourceLoader.getExtensions(),
    ...(notice === undefined ? {} : { modelFallbackMessage: notice }),
  };
}

const PARENT_ENDED = 'The session of the extension has ended: it creates no agents any more';

function inherited({ agentDir: folder, env, project }: ParentAgent, { cwd }: CreateAgentSessionOptions) {
  const { trusted, cwd: own } = project();
  return { agentDir: folder, env, ...(cwd === undefined || cwd === own ? { trust: trusted } : {}) };
}

const FOREIGN_MANAGER =
  "sessionManager must be one of tau's own: SessionManager.create(), open(), inMemory() and others";

function registryFrom(options: CreateAgentSessionOptions) {
  const { authStorage, env = process.env } = options;
  const shared = sharedRegistry(options);
  if (!(authStorage instanceof AuthStorage)) return shared;
  const registry = shared ?? openRegistry(authStorage.folder ?? options.agentDir ?? agentDir(env), env);
  authStorage.applyTo(registry);
  return registry;
}

async function requestedModel({ model, authStorage }: CreateAgentSessionOptions) {
  const requested = modelPatternOf(model);
  const isForeign = !(authStorage instanceof AuthStorage) && authStorage?.getApiKey;
  if (!requested || model === undefined || !isForeign) return requested;
  const apiKey = await authStorage.getApiKey?.(providerAndId(model).provider);
  return apiKey === undefined ? requested : { ...requested, apiKey };
}

const modelPattern = ({ model, thinkingLevel }: NonNullable<CreateAgentSessionOptions['scopedModels']>[number]) =>
  `${model.provider}/${model.id}${thinkingLevel === undefined ? '' : `:${thinkingLevel}`}`;

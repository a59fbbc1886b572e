import type { EngineOptions } from '../engine/open.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import type { SessionStart } from '../session/hooks.ts';
import { AgentSession } from './agent-session.ts';
import type { LoadedExtension } from './extension-runner.ts';
import { openLocalEngine } from './local-engine.ts';
import { loaderOptions, type ResourceLoader } from './resource-loader.ts';
import { EmbedContext } from './context.ts';
import { SessionManager } from './session-manager.ts';
import { type NamedModel, providerAndId, modelPatternOf } from './session-models.ts';
import { type SettingsSource, settingsFrom } from './settings-manager.ts';
import { type ToolOptions, resolveTools } from './tool-options.ts';

/** What pi takes, and what tau takes beside it. */
export interface CreateAgentSessionOptions extends ToolOptions, Partial<Pick<EngineOptions, 'env' | 'trust' | 'hooks'>> {
  /** The folder to work in; that of the session, or the current one, unless said. */
  readonly cwd?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly model?: NamedModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** Only these are cycled. */
  readonly scopedModels?: readonly {
    readonly model: Pick<Model, 'provider' | 'id'>;
    readonly thinkingLevel?: ThinkingLevel;
  }[];
  /** In place of what is found in folders. */
  readonly resourceLoader?: ResourceLoader | undefined;
  /** A new session in its file unless said. */
  readonly sessionManager?: SessionManager | undefined;
  readonly settingsManager?: SettingsSource | undefined;
  /** Asked for the key of `model`. */
  readonly authStorage?: KeySource | undefined;
  /** Accepted, and asked for nothing: models come from the catalogue and from models.json. */
  readonly modelRegistry?: object | undefined;
  readonly modelRuntime?: object | undefined;
  /** What extensions hear when the session begins. */
  readonly sessionStartEvent?: SessionStart | undefined;
  /** A file with answers for the built-in model. */
  readonly script?: string | undefined;
}

/** Who has keys. */
export interface KeySource {
  getApiKey?(provider: string): string | undefined | Promise<string | undefined>;
}

export interface CreateAgentSessionResult {
  readonly session: AgentSession;
  readonly extensionsResult: {
    readonly extensions: LoadedExtension[];
    readonly errors: { readonly path: string; readonly error: string }[];
  };
  /** Why the model is another one than was asked for, or none. */
  readonly modelFallbackMessage?: string;
}

/** Opens an agent in this process under pi's names. Rejects with a `Refusal` that says what is wrong. */
export async function createAgentSession(options: CreateAgentSessionOptions = {}): Promise<CreateAgentSessionResult> {
  const manager = options.sessionManager ?? SessionManager.create();
  if (!(manager instanceof SessionManager)) throw new Refusal('not_supported', FOREIGN_MANAGER);
  const cwd = manager.resolveCwd(options.cwd);
  const tools = resolveTools(options);
  const { prompt, additions } = loaderOptions(options.resourceLoader);
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
    addons: { ...additions, extensionFactories: tools.factories },
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

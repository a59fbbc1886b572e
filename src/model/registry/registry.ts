import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import type { ApiAdapter, Endpoint, StreamTimeouts } from '../endpoint.ts';
import type { ModelAuth, ProviderAuth } from '../keys/provider-auth.ts';
import { withRedactedErrors } from '../keys/redact-errors.ts';
import { secretsSet } from '../keys/secret-variables.ts';
import type { LocalServerSearch } from '../local-servers/discovery.ts';
import { loadApiAdapter } from '../providers/api-adapters.ts';
import { ModelFailure, type Provider } from '../request.ts';
import { scriptedModels } from '../scripted/models.ts';
import type { Script } from '../scripted/script.ts';
import { isThinkingLevel } from '../thinking-levels.ts';
import type { LoadedModels } from './loaded-models.ts';
import type { ModelList } from './model-list.ts';
import type { ModelMatch } from './model-pattern.ts';
import type { ProviderConfig } from './provider-config.ts';

/** Options that depend on the working folder. */
export interface FolderOptions {
  readonly timeouts: StreamTimeouts;
  /** Is searched for packages; undefined unless trusted. */
  readonly trustedFolder?: string | undefined;
}

export interface RegistryOptions {
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folderOptions: FolderOptions;
  /** Disables the search for local servers. */
  readonly offline?: boolean | undefined;
  /** Overrides the default ports of local servers. */
  readonly ports?: LocalServerSearch['ports'];
  readonly script?: Script | undefined;
}

/** A model as a user names it. */
export interface ModelSelector {
  readonly pattern: string;
  readonly provider?: string | undefined;
  /** A key for this process only. */
  readonly apiKey?: string | undefined;
}

/** The model that a selector matched. */
export interface ResolvedModel {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel;
  readonly warning?: string;
}

// The providers that run on this machine.
const LOCAL_PROVIDERS: ReadonlySet<string> = new Set(['ollama', 'llamacpp', 'lmstudio']);

// Local servers that take longer are ignored.
const LOCAL_DISCOVERY_MS = 500;

/**
 * The models of this process and their providers. Until a key, a file or a request requires more, it loads only the
 * built-in models.
 */
export class ModelRegistry {
  folderOptions: FolderOptions;
  /** Called when a local server runs a model with a smaller context window than was assumed. */
  onServedWindow: ((assumed: Model, served: Model) => void) | undefined;
  readonly #options: RegistryOptions;
  #scripted: Provider | undefined;
  #loaded: LoadedModels | undefined;
  /** Models that neither the catalogue nor the user's files list. */
  #extraModels: readonly Model[] = [];
  /** Models whose context window is not checked again: their server has confirmed it, or does not report it. */
  readonly #confirmed = new WeakSet<Model>();
  /** Listed models, and the same ones with the smaller context window of their server. */
  readonly #corrected = new WeakMap<Model, Model>();
  #scope: readonly ModelMatch[] | undefined;
  /** The arguments of the last `setScope`. */
  #scopeRequest: { readonly patterns: readonly string[]; readonly apiKey: string | undefined } | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.folderOptions = options.folderOptions;
  }

  /** Whether a real model may be reachable. Reads no file. */
  get isConfigured(): boolean {
    const { agentDir, env } = this.#options;
    return (
      this.isLoaded ||
      secretsSet(env).length > 0 ||
      ['models.json', 'auth.json'].some((name) => existsSync(join(agentDir, name)))
    );
  }

  /** Whether the user's files are loaded. */
  get isLoaded(): boolean {
    return this.#loaded !== undefined;
  }

  /** Loads the user's files, or the changes to them. `anyway`: even if none seem to exist. */
  async load({ anyway = false } = {}): Promise<void> {
    if (anyway || this.isConfigured) await this.#load();
  }

  /** The keys and endpoints of all but the built-in and local models; undefined until they are loaded. */
  get auth(): ProviderAuth | undefined {
    return this.#loaded?.auth;
  }

  /**
   * Adds or changes a provider until it is unregistered; it overrides files, and omitted fields keep their values.
   * Throws a `Refusal` if the config is invalid. Requires `load`.
   */
  register(provider: string, config: ProviderConfig): void {
    if (!this.#list) throw new Error('The models are not loaded yet');
    this.#list.register(provider, config);
    this.#dropExtraModels(provider);
  }

  unregister(provider: string): void {
    this.#list?.unregister(provider);
    this.#dropExtraModels(provider);
  }

  /** Searches this machine for model servers. */
  async discoverLocalModels(): Promise<void> {
    if (this.#options.offline) return;
    const { discoverLocalModels } = await import('../local-servers/discovery.ts');
    const { ports = {} } = this.#options;
    const found = await discoverLocalModels({ timeoutMs: LOCAL_DISCOVERY_MS, ports });
    this.#extraModels = [...this.#extraModels.filter(({ provider }) => !LOCAL_PROVIDERS.has(provider)), ...found];
  }

  /** The models that are usable now, in cycling order. The scripted ones are offered if there are no others. */
  available({ scripted = false } = {}): readonly Model[] {
    const known = this.auth?.usableModels() ?? [];
    const ids = new Set(known.map(fullName));
    const others = [
      ...known,
      ...this.#extraModels.filter((model) => this.#isUsable(model) && !ids.has(fullName(model))),
    ];
    const models = others.map((model) => this.#correct(model));
    return scripted || models.length === 0 ? [...models, ...scriptedModels] : models;
  }

  /** The models to cycle through, if restricted. */
  get scope(): readonly ModelMatch[] | undefined {
    return this.#scope?.map((match) => ({ ...match, model: this.#correct(match.model) }));
  }

  /**
   * Restricts cycling to the models that these patterns match; returns warnings. The key, for this process only, is for
   * the provider of the first match.
   */
  async setScope(patterns: readonly string[], apiKey?: string): Promise<readonly string[]> {
    await this.load({ anyway: true });
    if (patterns.some((pattern) => LOCAL_PROVIDERS.has(providerPrefix(pattern)))) await this.discoverLocalModels();
    const { matchPatterns } = await import('./model-pattern.ts');
    const [first] = apiKey === undefined ? [] : matchPatterns(patterns, this.#list?.inPreferenceOrder() ?? []).choices;
    if (first && apiKey !== undefined) this.auth?.setRuntimeKey({ provider: first.model.provider, key: apiKey });
    const scripted = patterns.some((pattern) => /^tau\/|scripted/i.test(pattern));
    const { choices, warnings } = matchPatterns(patterns, this.available({ scripted }));
    this.#scope = choices.length > 0 ? choices : undefined;
    this.#scopeRequest = { patterns, apiKey };
    return warnings;
  }

  /** Applies the patterns of `setScope` again. */
  async refreshScope(): Promise<void> {
    if (this.#scopeRequest) await this.setScope(this.#scopeRequest.patterns, this.#scopeRequest.apiKey);
  }

  /** The model to use if none is named: a real provider's default unless there is a script. */
  get fallback(): Model {
    const preferred = this.#options.script ? undefined : this.auth?.preferredModel();
    if (preferred) return this.#correct(preferred);
    const [first] = scriptedModels;
    if (!first) throw new Error('The catalogue of built-in models is empty');
    return first;
  }

  /** A model by name, with or without a key. */
  findAny(provider: string, id: string): Model | undefined {
    const isThis = (model: Model) => model.provider === provider && model.id === id;
    const found = scriptedModels.find(isThis) ?? this.#list?.find(provider, id) ?? this.#extraModels.find(isThis);
    return found && this.#correct(found);
  }

  /** A model by name if it is usable now. */
  find(provider: string, id: string): Model | undefined {
    const found = this.findAny(provider, id);
    return found && this.#isUsable(found) ? found : undefined;
  }

  /** Loads the models of a provider. */
  async loadProvider(provider: string): Promise<void> {
    if (isScripted({ provider })) return;
    await this.load({ anyway: true });
    if (LOCAL_PROVIDERS.has(provider)) await this.discoverLocalModels();
  }

  /** Loads a model that a session used. An unlisted model of a known provider is accepted again. */
  async loadModel(provider: string, id: string): Promise<void> {
    await this.loadProvider(provider);
    if (!this.find(provider, id) && this.#list?.isBuiltIn(provider) && this.auth?.hasKey(provider)) {
      await this.resolve({ pattern: id, provider });
    }
  }

  /** Finds the model that a selector means, with or without a key. Rejects with a `Refusal`. */
  async resolve(selector: ModelSelector): Promise<ResolvedModel> {
    const builtIn = findScripted(selector);
    if (builtIn) return builtIn;
    await this.load({ anyway: true });
    await this.loadProvider(selector.provider ?? providerPrefix(selector.pattern));
    const found = await this.#match(selector);
    const { provider, id } = found.model;
    if (!this.has(provider, id)) this.#extraModels = [...this.#extraModels, found.model];
    if (selector.apiKey !== undefined)
      this.auth?.setRuntimeKey({ provider: found.model.provider, key: selector.apiKey });
    return found;
  }

  /** The reason why a model cannot be used, for the user. */
  unavailableReason(provider: string, id: string): string {
    const name = `${provider}/${id}`;
    if (this.auth?.hasKey(provider)) return `Model not found: ${name}`;
    if (LOCAL_PROVIDERS.has(provider))
      return `Model not found: ${name}. No server on this machine has it, or none was looked for.`;
    return this.auth?.missingKeyMessage(provider) ?? `No API key found for ${provider}`;
  }

  /** Whether the model exists, with or without a key. */
  has(provider: string, id: string): boolean {
    return this.findAny(provider, id) !== undefined;
  }

  /** The problems of the user's files, one sentence each. */
  get problems(): readonly string[] {
    return [...(this.#list?.problems ?? []), ...(this.auth?.problems ?? [])];
  }

  /** Whether the provider has a key or needs none. Sends no request. */
  hasKey(provider: string): boolean {
    return isScripted({ provider }) || this.auth?.hasKey(provider) === true;
  }

  /** Resolves the key and headers of a model. Rejects with a `Refusal` if that fails. */
  async keyAndHeaders(model: Pick<Model, 'provider' | 'id' | 'headers'>, signal?: AbortSignal): Promise<ModelAuth> {
    const { auth } = await this.#load();
    if (isScripted(model) || this.#isKeyless(model)) return { apiKey: undefined, headers: {} };
    return auth.keyAndHeaders(model, signal);
  }

  /** The provider function for a model. Obstacles are thrown when it is called. `signal` cancels the lookup. */
  async provider(model: Model, signal?: AbortSignal): Promise<Provider> {
    if (isScripted(model)) return this.#scriptedProvider();
    try {
      const { auth } = await this.#load();
      const [endpoint, adapter] = await Promise.all([this.#endpoint(model, auth, signal), this.#adapter(model)]);
      const provider = withRedactedErrors(adapter(endpoint), endpoint);
      return model.provider === 'ollama' ? await this.#withServedWindow(provider, model) : provider;
    } catch (error) {
      return failingProvider(error instanceof ModelFailure ? error : new ModelFailure('auth_failed', messageOf(error)));
    }
  }

  async #withServedWindow(provider: Provider, model: Model): Promise<Provider> {
    if (this.#confirmed.has(model)) return provider;
    const { withServedWindow } = await import('../local-servers/ollama.ts');
    return withServedWindow(provider, model, (contextWindow) => {
      if (contextWindow === undefined || contextWindow >= model.contextWindow) {
        this.#confirmed.add(model);
        return;
      }
      const served = { ...model, contextWindow, maxTokens: Math.min(model.maxTokens, contextWindow) };
      this.#confirmed.add(served);
      this.#corrected.set(model, served);
      this.onServedWindow?.(model, served);
    });
  }

  async #adapter(model: Model): Promise<ApiAdapter> {
    const stream = this.#list?.registered.streamOf(model);
    if (stream) return (await import('../providers/extension-stream/adapter.ts')).extensionStream(stream);
    const { trustedFolder: cwd } = this.folderOptions;
    return loadApiAdapter(model.api, { agentDir: this.#options.agentDir, ...(cwd === undefined ? {} : { cwd }) });
  }

  async #endpoint(model: Model, auth: ProviderAuth, signal: AbortSignal | undefined): Promise<Endpoint> {
    const { timeouts } = this.folderOptions;
    if (this.#isKeyless(model)) {
      return { baseUrl: model.baseUrl ?? '', apiKey: undefined, headers: {}, timeouts };
    }
    return { ...(await auth.endpoint(model, signal)), timeouts };
  }

  async #scriptedProvider(): Promise<Provider> {
    if (!this.#scripted) {
      const { scriptedProvider } = await import('../scripted/player.ts');
      this.#scripted = scriptedProvider({ script: this.#options.script });
    }
    return this.#scripted;
  }

  get #list(): ModelList | undefined {
    return this.#loaded?.list;
  }

  async #load(): Promise<LoadedModels> {
    if (this.#loaded) {
      this.#loaded.list.refresh();
      this.#loaded.auth.refresh();
      return this.#loaded;
    }
    const { agentDir, env } = this.#options;
    const { openModels } = await import('./loaded-models.ts');
    // Not twice: a concurrent call may have loaded them.
    this.#loaded ??= openModels({ agentDir, env });
    return this.#loaded;
  }

  /** Local servers require no key. */
  #isKeyless({ provider }: Pick<Model, 'provider'>): boolean {
    return LOCAL_PROVIDERS.has(provider) && this.auth?.hasKey(provider) !== true;
  }

  /** The registration may have changed what unlisted ids mean. */
  #dropExtraModels(provider: string): void {
    if (!LOCAL_PROVIDERS.has(provider))
      this.#extraModels = this.#extraModels.filter((model) => model.provider !== provider);
  }

  /** Prefers usable models: a loose pattern more likely means one of them, and fewer files are read. */
  async #match({ pattern, provider }: ModelSelector): Promise<ResolvedModel> {
    const { findByPattern } = await import('./model-pattern.ts');
    const others = [...this.#extraModels, ...scriptedModels];
    const providers = [...new Set([...(this.#list?.providers() ?? []), ...others.map((model) => model.provider)])];
    const query = { pattern, provider, providers };
    try {
      const usable = findByPattern({ ...query, models: this.available({ scripted: true }) });
      if (usable.warning === undefined) return usable;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
    // Without the scripted models: an unknown id of theirs is an error.
    const listed = [...(this.#list?.inPreferenceOrder() ?? []), ...this.#extraModels];
    return findByPattern({ ...query, models: listed.map((model) => this.#correct(model)) });
  }

  #correct(model: Model): Model {
    return this.#corrected.get(model) ?? model;
  }

  #isUsable({ provider }: Model): boolean {
    return LOCAL_PROVIDERS.has(provider) || this.hasKey(provider);
  }
}

const providerPrefix = (name: string) => name.split('/', 1)[0] ?? '';

const fullName = ({ provider, id }: Model) => `${provider}/${id}`;

const isScripted = ({ provider }: Pick<Model, 'provider'>) => provider === scriptedModels[0]?.provider;

// Finds a built-in model by exact name without loading anything.
function findScripted({ pattern, provider }: ModelSelector): ResolvedModel | undefined {
  const [, name = pattern, level] = /^(.+):([a-z]+)$/.exec(pattern) ?? [];
  const fullPattern = provider === undefined || name.startsWith(`${provider}/`) ? name : `${provider}/${name}`;
  const model = scriptedModels.find((one) => fullPattern === one.id || fullPattern === fullName(one));
  if (!model || (level !== undefined && !isThinkingLevel(level))) return undefined;
  return level === undefined ? { model } : { model, thinkingLevel: level };
}

// Throws the failure on the first read.
const failingProvider = (failure: ModelFailure): Provider =>
  // biome-ignore lint/correctness/useYield: it throws at once
  async function* () {
    throw failure;
  };

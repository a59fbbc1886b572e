import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import { currentModelName, currentProviderId } from '../../store/provider-ids.ts';
import type { ApiAdapter, Endpoint, StreamTimeouts } from '../endpoint.ts';
import type { ModelAuth, ProviderAuth } from '../keys/provider-auth.ts';
import { withRedactedErrors } from '../keys/redact-errors.ts';
import { withRenewal } from '../keys/renewing-provider.ts';
import { mayHoldCredentials } from '../keys/secret-variables.ts';
import type { LocalServerSearch } from '../local-servers/discovery.ts';
import { loadApiAdapter } from '../providers/api-adapters.ts';
import { failingProvider, ModelFailure, type Provider } from '../request.ts';
import { scriptedModels } from '../scripted/models.ts';
import type { Script } from '../scripted/script.ts';
import type { LoadedModels } from './loaded-models.ts';
import { findScripted, matchModel, providerPrefix } from './match-model.ts';
import type { ModelList } from './model-list.ts';
import type { ModelMatch } from './model-pattern.ts';
import type { ProviderConfig } from './provider-config.ts';
import { ServedWindows } from './served-windows.ts';
import { directProvider, isVirtual, VirtualModels } from './virtual-models.ts';

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
  /** Models and keys that are loaded already. */
  readonly loaded?: LoadedModels | undefined;
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
  /** Models that stand for others. */
  readonly virtual = new VirtualModels();
  readonly servedWindows = new ServedWindows();
  readonly #options: RegistryOptions;
  #scripted: { provider?: Provider } = {};
  #loaded: LoadedModels | undefined;
  /** Models that neither the catalogue nor the user's files list. */
  #extraModels: readonly Model[] = [];
  #scope: readonly ModelMatch[] | undefined;
  /** The arguments of the last `setScope`. */
  #scopeRequest: { readonly patterns: readonly string[]; readonly apiKey: string | undefined } | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#loaded = options.loaded;
    this.folderOptions = options.folderOptions;
  }

  /** A registry for another agent: with the same models, keys, providers and script, and a scope of its own. */
  share(): ModelRegistry {
    const shared = new ModelRegistry({ ...this.#options, folderOptions: this.folderOptions, loaded: this.#loaded });
    shared.#scripted = this.#scripted;
    shared.#extraModels = this.#extraModels;
    return shared;
  }

  /** Whether a real model may be reachable. Reads no file. */
  get isConfigured(): boolean {
    const { agentDir, env } = this.#options;
    return (
      this.isLoaded ||
      mayHoldCredentials(env) ||
      ['models.json', 'auth.json'].some((name) => existsSync(join(agentDir, name)))
    );
  }

  /** Whether lists of models must not be loaded from other machines. */
  get isOffline(): boolean {
    return this.#options.offline === true;
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
    const extra = this.#extraModels.filter((model) => this.#isUsable(model) && !ids.has(fullName(model)));
    const physical = [...known, ...extra].filter(({ provider, id }) => !this.virtual.find(provider, id));
    const usable = this.virtual.all.filter((model) => this.#isUsable(model));
    const models = physical.map((model) => this.#correct(model)).concat(usable);
    return scripted || models.length === 0 ? [...models, ...scriptedModels] : models;
  }

  /** All models, with or without a key, as far as they are loaded. */
  all(): readonly Model[] {
    const listed = [...(this.#list?.inPreferenceOrder() ?? []), ...this.#extraModels];
    const models = [...listed.map((model) => this.#correct(model)), ...scriptedModels, ...this.virtual.all];
    return [...new Map(models.map((model) => [fullName(model), model])).values()];
  }

  /** The names of the providers that extensions have registered. */
  get registeredProviders(): readonly string[] {
    return this.#list?.registered.names ?? [];
  }

  /** The configuration with which an extension registered a provider. */
  registeredConfig(provider: string): ProviderConfig | undefined {
    return this.#list?.registered.configOf(provider);
  }

  /** The models to cycle through, if restricted. */
  get scope(): readonly ModelMatch[] | undefined {
    return this.#scope?.map((match) => ({ ...match, model: this.#correct(match.model) }));
  }

  /** An empty list lifts the restriction. */
  set scope(matches: readonly ModelMatch[]) {
    this.#scope = matches.length > 0 ? matches : undefined;
    this.#scopeRequest = undefined;
  }

  /**
   * Restricts cycling to the models that these patterns match; returns warnings. The key, for this process only, is for
   * the provider of the first match.
   */
  async setScope(given: readonly string[], apiKey?: string): Promise<readonly string[]> {
    const patterns = given.map(currentModelName);
    await this.load({ anyway: true });
    if (patterns.some((pattern) => LOCAL_PROVIDERS.has(providerPrefix(pattern)))) await this.discoverLocalModels();
    const { matchPatterns } = await import('./model-pattern.ts');
    const [first] = apiKey === undefined ? [] : matchPatterns(patterns, this.#list?.inPreferenceOrder() ?? []).choices;
    if (first && apiKey !== undefined) this.auth?.setRuntimeKey({ provider: first.model.provider, key: apiKey });
    const available = this.available({ scripted: patterns.some((pattern) => /^tau\/|scripted/i.test(pattern)) });
    const { choices, warnings } = matchPatterns(patterns, available);
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
  findAny(providerId: string, id: string): Model | undefined {
    const provider = currentProviderId(providerId);
    const isThis = (model: Model) => model.provider === provider && model.id === id;
    const found = scriptedModels.find(isThis) ?? this.#list?.find(provider, id) ?? this.#extraModels.find(isThis);
    return this.virtual.find(provider, id) ?? (found && this.#correct(found));
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
  async loadModel(providerId: string, id: string): Promise<void> {
    const provider = currentProviderId(providerId);
    await this.loadProvider(provider);
    if (!this.find(provider, id) && this.#list?.isBuiltIn(provider) && this.auth?.hasKey(provider)) {
      await this.resolve({ pattern: id, provider });
    }
  }

  /** Finds the model that a selector means, with or without a key. Rejects with a `Refusal`. */
  async resolve(given: ModelSelector): Promise<ResolvedModel> {
    const { provider: providerId, ...own } = given;
    const provided = providerId === undefined ? {} : { provider: currentProviderId(providerId) };
    const selector = { ...own, ...provided, pattern: currentModelName(given.pattern) };
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
  unavailableReason(providerId: string, id: string): string {
    const provider = currentProviderId(providerId);
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

  /** Whether requests of a model use a stored sign-in. */
  isUsingOAuth({ provider }: Pick<Model, 'provider'>): boolean {
    return this.auth?.signInOf(provider) !== undefined;
  }

  /** Whether requests of a model count against a plan. */
  isSubscription(model: Pick<Model, 'provider'>): boolean {
    return this.isUsingOAuth(model) && this.auth?.signIns.isSubscription(model.provider) === true;
  }

  /** Resolves the key and headers of a model. Rejects with a `Refusal` if that fails. */
  async keyAndHeaders(model: Pick<Model, 'provider' | 'id' | 'headers'>, signal?: AbortSignal): Promise<ModelAuth> {
    const { auth } = await this.#load();
    if (isScripted(model) || this.#isKeyless(model)) return { apiKey: undefined, headers: {} };
    return auth.keyAndHeaders(model, signal);
  }

  /** The provider function for a model. Obstacles are thrown when it is called. `signal` cancels the lookup. */
  async provider(model: Model, signal?: AbortSignal): Promise<Provider> {
    if (isVirtual(model)) return directProvider(this, model);
    if (isScripted(model)) return this.#scriptedProvider();
    try {
      const { auth } = await this.#load();
      const open = async () => {
        const [endpoint, adapter] = await Promise.all([this.#endpoint(model, auth, signal), this.#adapter(model)]);
        return withRedactedErrors(adapter(endpoint), endpoint);
      };
      const provider = withRenewal(await open(), { auth, model, reopen: open });
      return model.provider === 'ollama' ? await this.servedWindows.checking(provider, model) : provider;
    } catch (error) {
      return failingProvider(error instanceof ModelFailure ? error : new ModelFailure('auth_failed', messageOf(error)));
    }
  }

  async #adapter(model: Model): Promise<ApiAdapter> {
    const stream = this.#list?.registered.streamOf(model);
    if (stream) return (await import('../providers/extension-stream/adapter.ts')).extensionStream(stream);
    const { trustedFolder: cwd } = this.folderOptions;
    const folders = { agentDir: this.#options.agentDir, ...(cwd === undefined ? {} : { cwd }) };
    return loadApiAdapter(model, folders);
  }

  async #endpoint(model: Model, auth: ProviderAuth, signal: AbortSignal | undefined): Promise<Endpoint> {
    const { timeouts } = this.folderOptions;
    if (this.#isKeyless(model)) return { baseUrl: model.baseUrl ?? '', apiKey: undefined, headers: {}, timeouts };
    return { ...(await auth.endpoint(model, signal)), timeouts };
  }

  async #scriptedProvider(): Promise<Provider> {
    const { scriptedProvider } = await import('../scripted/player.ts');
    this.#scripted.provider ??= scriptedProvider({ script: this.#options.script });
    return this.#scripted.provider;
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

  #match(selector: ModelSelector): Promise<ResolvedModel> {
    const others = [...this.#extraModels, ...scriptedModels, ...this.virtual.all].map(({ provider }) => provider);
    // Without the scripted models: an unknown id of theirs is an error.
    const listed = [...(this.#list?.inPreferenceOrder() ?? []), ...this.#extraModels];
    return matchModel(selector, {
      usable: this.available({ scripted: true }),
      listed: listed.map((model) => this.#correct(model)),
      providers: [...new Set([...(this.#list?.providers() ?? []), ...others])],
    });
  }

  #correct(model: Model): Model {
    return this.servedWindows.correct(model);
  }

  /** A virtual model of a provider without others needs no key. */
  #isUsable(model: Model): boolean {
    if (LOCAL_PROVIDERS.has(model.provider) || this.hasKey(model.provider)) return true;
    return isVirtual(model) && this.#list?.providers().includes(model.provider) !== true;
  }
}

const fullName = ({ provider, id }: Model) => `${provider}/${id}`;

const isScripted = ({ provider }: Pick<Model, 'provider'>) => provider === scriptedModels[0]?.provider;

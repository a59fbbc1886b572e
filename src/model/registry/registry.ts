import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import { withRedactedErrors } from '../keys/redact-errors.ts';
import type { Endpoint, StreamTimeouts, ApiAdapter } from '../endpoint.ts';
import type { RuntimeKey } from '../keys/key-lookup.ts';
import type { ModelAuth, KeyedProvider, KnownModels } from './known-models.ts';
import type { LocalServerSearch } from '../local-servers/discovery.ts';
import type { ModelMatch } from './model-pattern.ts';
import type { ProviderConfig } from './provider-config.ts';
import { ModelFailure, type Provider } from '../request.ts';
import { scriptedModels } from '../scripted/models.ts';
import type { Script } from '../scripted/script.ts';
import { secretsSet } from '../keys/secret-variables.ts';
import { isThinkingLevel } from '../thinking-levels.ts';

/** What depends on the folder that is worked in. */
export interface FolderOptions {
  readonly timeouts: StreamTimeouts;
  /** Where to look for packages, if it is trusted. */
  readonly trustedFolder?: string | undefined;
}

export interface RegistryOptions {
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folderOptions: FolderOptions;
  /** Look for no servers. */
  readonly offline?: boolean | undefined;
  /** Where servers on this machine listen, if not at their usual ports. */
  readonly ports?: LocalServerSearch['ports'];
  readonly script?: Script | undefined;
}

/** A model as a person names it. */
export interface ModelSelector {
  readonly pattern: string;
  readonly provider?: string | undefined;
  /** A key for this process only. */
  readonly apiKey?: string | undefined;
}

/** What a wish came to. */
export interface ResolvedModel {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel;
  readonly warning?: string;
}

/** Who serves models on this machine, where somebody does. */
const LOCAL_PROVIDERS: ReadonlySet<string> = new Set(['ollama', 'llamacpp', 'lmstudio']);

/** How long local servers may take to say what they have. */
const LOCAL_DISCOVERY_MS = 500;

/**
 * The models this process knows, and who speaks to them. Until somebody has a key, a file or a wish that calls for more
 * it knows the built-in ones, and has loaded nothing else.
 */
export class ModelRegistry {
  folderOptions: FolderOptions;
  readonly #options: RegistryOptions;
  #scripted: Provider | undefined;
  #known: KnownModels | undefined;
  #runtimeKey: RuntimeKey | undefined;
  /** What is known neither to the catalogue nor to the user's files. */
  #extraModels: readonly Model[] = [];
  #scope: readonly ModelMatch[] | undefined;
  /** What the scope was made of. */
  #scopeRequest: { readonly patterns: readonly string[]; readonly apiKey: string | undefined } | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.folderOptions = options.folderOptions;
  }

  /** Whether there is anything to reach a real model with. Reads no file. */
  get isConfigured(): boolean {
    const { agentDir, env } = this.#options;
    return (
      this.#known !== undefined ||
      secretsSet(env).length > 0 ||
      ['models.json', 'auth.json'].some((name) => existsSync(join(agentDir, name)))
    );
  }

  /** Whether everything is known that files say. */
  get isLoaded(): boolean {
    return this.#known !== undefined;
  }

  /** Learns what the user's files say, again where they have changed. `anyway`: also when there seems to be nothing. */
  async load({ anyway = false } = {}): Promise<void> {
    if (this.#known) this.#known.refresh();
    else if (anyway || this.isConfigured) this.#known = await this.#loadKnownModels();
  }

  /**
   * Adds a provider, or changes one, until it is taken back: it wins over files. What a later description does not say
   * stays as it was. Everything must be loaded. Throws a `Refusal` that names what is wrong with it.
   */
  register(provider: string, config: ProviderConfig): void {
    this.#requireKnown.register(provider, config);
    this.#dropExtraModels(provider);
  }

  /** Restores what was there before a provider was registered. */
  unregister(provider: string): void {
    this.#known?.unregister(provider);
    this.#dropExtraModels(provider);
  }

  /** Looks for servers on this machine. */
  async discoverLocalModels(): Promise<void> {
    if (this.#options.offline) return;
    const { discoverLocalModels } = await import('../local-servers/discovery.ts');
    const { ports = {} } = this.#options;
    const found = await discoverLocalModels({ timeoutMs: LOCAL_DISCOVERY_MS, ports });
    this.#extraModels = [...this.#extraModels.filter(({ provider }) => !LOCAL_PROVIDERS.has(provider)), ...found];
  }

  /** Models that can be used now, in the order in which they are cycled. The scripted ones stand in for others. */
  available({ scripted = false } = {}): readonly Model[] {
    const known = this.#known?.available() ?? [];
    const ids = new Set(known.map(fullName));
    const others = [...known, ...this.#extraModels.filter((model) => this.#isUsable(model) && !ids.has(fullName(model)))];
    return scripted || others.length === 0 ? [...others, ...scriptedModels] : others;
  }

  /** Only these are cycled, if somebody chose some. */
  get scope(): readonly ModelMatch[] | undefined {
    return this.#scope;
  }

  /**
   * Lets only the models be cycled that these patterns mean; answers what is wrong with the patterns. A key for this
   * process only is for the provider of the first.
   */
  async setScope(patterns: readonly string[], apiKey?: string): Promise<readonly string[]> {
    await this.load({ anyway: true });
    if (patterns.some((pattern) => LOCAL_PROVIDERS.has(providerPrefix(pattern)))) await this.discoverLocalModels();
    const { matchPatterns } = await import('./model-pattern.ts');
    const [first] = apiKey === undefined ? [] : matchPatterns(patterns, this.#known?.inPreferenceOrder() ?? []).choices;
    if (first && apiKey !== undefined) this.#setRuntimeKey({ provider: first.model.provider, key: apiKey });
    const scripted = patterns.some((pattern) => /^tau\/|scripted/i.test(pattern));
    const { choices, warnings } = matchPatterns(patterns, this.available({ scripted }));
    this.#scope = choices.length > 0 ? choices : undefined;
    this.#scopeRequest = { patterns, apiKey };
    return warnings;
  }

  /** Looks again which models are meant by the patterns that were given, if some were. */
  async refreshScope(): Promise<void> {
    if (this.#scopeRequest) await this.setScope(this.#scopeRequest.patterns, this.#scopeRequest.apiKey);
  }

  /** What is used when nobody named a model: the provider's default of a real one if there is one, and no script. */
  get fallback(): Model {
    const preferred = this.#options.script ? undefined : this.#known?.preferred();
    if (preferred) return preferred;
    const [first] = scriptedModels;
    if (!first) throw new Error('The catalogue of built-in models is empty');
    return first;
  }

  /** A model by its name, whether or not there is a key for it. */
  findAny(provider: string, id: string): Model | undefined {
    const isThis = (model: Model) => model.provider === provider && model.id === id;
    return scriptedModels.find(isThis) ?? this.#known?.find(provider, id) ?? this.#extraModels.find(isThis);
  }

  /** A model that can be used now. */
  find(provider: string, id: string): Model | undefined {
    const found = this.findAny(provider, id);
    return found && this.#isUsable(found) ? found : undefined;
  }

  /** Learns what there is of a provider that somebody named. */
  async loadProvider(provider: string): Promise<void> {
    if (isScripted({ provider })) return;
    await this.load({ anyway: true });
    if (LOCAL_PROVIDERS.has(provider)) await this.discoverLocalModels();
  }

  /** Learns of a model that a session used. One that only its name is known of is taken at its word again. */
  async loadModel(provider: string, id: string): Promise<void> {
    await this.loadProvider(provider);
    if (!this.find(provider, id) && this.#known?.isBuiltIn(provider) && this.#known.hasKey(provider)) {
      await this.resolve({ pattern: id, provider });
    }
  }

  /** The model that somebody means, whether or not there is a key for it. Rejects with a `Refusal`. */
  async resolve(selector: ModelSelector): Promise<ResolvedModel> {
    const builtIn = findScripted(selector);
    if (builtIn) return builtIn;
    await this.load({ anyway: true });
    await this.loadProvider(selector.provider ?? providerPrefix(selector.pattern));
    const found = await this.#match(selector);
    const { provider, id } = found.model;
    if (!this.has(provider, id)) this.#extraModels = [...this.#extraModels, found.model];
    if (selector.apiKey !== undefined) this.#setRuntimeKey({ provider: found.model.provider, key: selector.apiKey });
    return found;
  }

  /** Why a model that was named cannot be used. */
  unavailableReason(provider: string, id: string): string {
    const name = `${provider}/${id}`;
    if (this.#known?.hasKey(provider)) return `Model not found: ${name}`;
    if (LOCAL_PROVIDERS.has(provider))
      return `Model not found: ${name}. No server on this machine has it, or none was looked for.`;
    return this.#known?.missingKeyMessage(provider) ?? `No API key found for ${provider}`;
  }

  /** Whether there is such a model, be it that its key is missing. */
  has(provider: string, id: string): boolean {
    const isThis = (model: Model) => model.provider === provider && model.id === id;
    return this.#known?.find(provider, id) !== undefined || [...this.#extraModels, ...scriptedModels].some(isThis);
  }

  /** The providers that can be used, each with the place of its key; undefined where none is needed. */
  get keyLocations(): ReadonlyMap<string, string | undefined> {
    return this.#known?.keyLocations() ?? new Map();
  }

  /** The providers that a key can be stored for, preferred ones first. Everything must be loaded. */
  get keyedProviders(): readonly KeyedProvider[] {
    return this.#requireKnown.keyedProviders();
  }

  /** Why providers cannot be used that the user's files speak of, a sentence each. */
  get keyProblems(): readonly string[] {
    return this.#known?.keyProblems ?? [];
  }

  /** The set variables that the user's files name as secrets. */
  get secretNames(): readonly string[] {
    return this.#known?.secretNames ?? [];
  }

  /** What is wrong with the user's files, a sentence each. */
  get problems(): readonly string[] {
    return this.#known?.problems ?? [];
  }

  /** Whether there is a key for this provider, or it needs none. Asks nobody. */
  hasKey(provider: string): boolean {
    return isScripted({ provider }) || this.#known?.hasKey(provider) === true;
  }

  /** What goes along with every request to a model. Rejects with a `Refusal` when it cannot be had. */
  async keyAndHeaders(model: Pick<Model, 'provider' | 'id' | 'headers'>, signal?: AbortSignal): Promise<ModelAuth> {
    await this.load({ anyway: true });
    if (isScripted(model) || this.#isKeyless(model)) return { apiKey: undefined, headers: {} };
    return this.#requireKnown.auth(model, signal);
  }

  /** Who speaks to this model; what stands in the way is told when it is asked. `signal`: nobody waits any more. */
  async provider(model: Model, signal?: AbortSignal): Promise<Provider> {
    if (isScripted(model)) return this.#scriptedProvider();
    try {
      await this.load({ anyway: true });
      const [endpoint, adapter] = await Promise.all([this.#endpoint(model, signal), this.#adapter(model)]);
      return withRedactedErrors(adapter(endpoint), endpoint);
    } catch (error) {
      return failingProvider(error instanceof ModelFailure ? error : new ModelFailure('auth_failed', messageOf(error)));
    }
  }

  async #adapter(model: Model): Promise<ApiAdapter> {
    const stream = this.#known?.streamOf(model);
    if (stream) return (await import('../providers/extension-stream/adapter.ts')).extensionStream(stream);
    const { loadApiAdapter } = await import('../providers/api-adapters.ts');
    const { trustedFolder: cwd } = this.folderOptions;
    return loadApiAdapter(model.api, { agentDir: this.#options.agentDir, ...(cwd === undefined ? {} : { cwd }) });
  }

  async #endpoint(model: Model, signal: AbortSignal | undefined): Promise<Endpoint> {
    const { timeouts } = this.folderOptions;
    if (this.#isKeyless(model)) {
      return { baseUrl: model.baseUrl ?? '', apiKey: undefined, headers: {}, timeouts };
    }
    if (!this.#known) throw new Refusal('model_not_found', this.unavailableReason(model.provider, model.id));
    return { ...(await this.#known.endpoint(model, signal)), timeouts };
  }

  async #scriptedProvider(): Promise<Provider> {
    if (!this.#scripted) {
      const { scriptedProvider } = await import('../scripted/player.ts');
      this.#scripted = scriptedProvider({ script: this.#options.script });
    }
    return this.#scripted;
  }

  async #loadKnownModels(): Promise<KnownModels> {
    const [{ KnownModels }, { catalogue }] = await Promise.all([import('./known-models.ts'), import('./catalogue.ts')]);
    const { agentDir, env } = this.#options;
    return new KnownModels({ agentDir, env, catalogue, runtimeKey: this.#runtimeKey });
  }

  get #requireKnown(): KnownModels {
    if (!this.#known) throw new Error('The models are not loaded yet');
    return this.#known;
  }

  /** A server on this machine that asks for no key. */
  #isKeyless({ provider }: Pick<Model, 'provider'>): boolean {
    return LOCAL_PROVIDERS.has(provider) && this.#known?.hasKey(provider) !== true;
  }

  /** What was taken at its word may mean something else now, or nothing. */
  #dropExtraModels(provider: string): void {
    if (!LOCAL_PROVIDERS.has(provider)) this.#extraModels = this.#extraModels.filter((model) => model.provider !== provider);
  }

  #setRuntimeKey(runtimeKey: RuntimeKey): void {
    this.#runtimeKey = runtimeKey;
    this.#known?.setRuntimeKey(runtimeKey);
  }

  /** Models that can be used come first: a loose word rather means one of them, and few files are read to find it. */
  async #match({ pattern, provider }: ModelSelector): Promise<ResolvedModel> {
    const { findByPattern } = await import('./model-pattern.ts');
    const others = [...this.#extraModels, ...scriptedModels];
    const providers = [...new Set([...(this.#known?.providers() ?? []), ...others.map((model) => model.provider)])];
    const query = { pattern, provider, providers };
    try {
      const usable = findByPattern({ ...query, models: this.available({ scripted: true }) });
      if (usable.warning === undefined) return usable;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
    // Without the scripted ones, which can be used: an id that they lack means nothing to anybody.
    return findByPattern({ ...query, models: [...(this.#known?.inPreferenceOrder() ?? []), ...this.#extraModels] });
  }

  #isUsable(model: Model): boolean {
    return isScripted(model) || LOCAL_PROVIDERS.has(model.provider) || this.#known?.hasKey(model.provider) === true;
  }
}

/** The provider that a name begins with, if it does. */
const providerPrefix = (name: string) => name.split('/', 1)[0] ?? '';

const fullName = ({ provider, id }: Model) => `${provider}/${id}`;

const isScripted = ({ provider }: Pick<Model, 'provider'>) => provider === scriptedModels[0]?.provider;

/** A built-in model by its exact name, for which nothing need be loaded. */
function findScripted({ pattern, provider }: ModelSelector): ResolvedModel | undefined {
  const [, name = pattern, level] = /^(.+):([a-z]+)$/.exec(pattern) ?? [];
  const fullPattern = provider === undefined || name.startsWith(`${provider}/`) ? name : `${provider}/${name}`;
  const model = scriptedModels.find((one) => fullPattern === one.id || fullPattern === fullName(one));
  if (!model || (level !== undefined && !isThinkingLevel(level))) return undefined;
  return level === undefined ? { model } : { model, thinkingLevel: level };
}

/** Says what stands in the way, as soon as it is asked. */
const failingProvider = (failure: ModelFailure): Provider =>
  // biome-ignore lint/correctness/useYield: it throws at once
  async function* () {
    throw failure;
  };

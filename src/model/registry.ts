import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, Refusal } from '../protocol/errors.ts';
import type { Model, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import { concealing } from './conceal.ts';
import type { Endpoint, Patience, Wire } from './endpoint.ts';
import type { RuntimeKey } from './key-lookup.ts';
import type { Access, KeyTaker, KnownModels } from './known-models.ts';
import type { Search } from './local-servers.ts';
import type { Choice } from './pattern.ts';
import type { ProviderConfig } from './provider-config.ts';
import { ModelFailure, type Provider } from './request.ts';
import { scriptedModels } from './scripted/catalogue.ts';
import type { Script } from './scripted/script.ts';
import { secretsSet } from './secret-variables.ts';
import { isLevel } from './thinking.ts';

/** What depends on the folder that is worked in. */
export interface Place {
  readonly patience: Patience;
  /** Where to look for packages, if it is trusted. */
  readonly trustedFolder?: string | undefined;
}

export interface RegistryOptions {
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: Place;
  /** Look for no servers. */
  readonly offline?: boolean | undefined;
  /** Where servers on this machine listen, if not at their usual ports. */
  readonly ports?: Search['ports'];
  readonly script?: Script | undefined;
}

/** A model as a person names it. */
export interface ModelWish {
  readonly pattern: string;
  readonly provider?: string | undefined;
  /** A key for this process only. */
  readonly apiKey?: string | undefined;
}

/** What a wish came to. */
export interface Granted {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel;
  readonly warning?: string;
}

/** Who serves models on this machine, where somebody does. */
const LOCAL: ReadonlySet<string> = new Set(['ollama', 'llamacpp', 'lmstudio']);

/** How long local servers may take to say what they have. */
const LOCAL_MS = 500;

/**
 * The models this process knows, and who speaks to them. Until somebody has a key, a file or a wish that calls for more
 * it knows the built-in ones, and has loaded nothing else.
 */
export class ModelRegistry {
  place: Place;
  readonly #options: RegistryOptions;
  #scripted: Provider | undefined;
  #known: KnownModels | undefined;
  #runtimeKey: RuntimeKey | undefined;
  /** What is known neither to the catalogue nor to the user's files. */
  #extra: readonly Model[] = [];
  #scope: readonly Choice[] | undefined;
  /** What the scope was made of. */
  #patterns: { readonly patterns: readonly string[]; readonly apiKey: string | undefined } | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.place = options.place;
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
    else if (anyway || this.isConfigured) this.#known = await this.#learn();
  }

  /**
   * Adds a provider, or changes one, until it is taken back: it wins over files. What a later description does not say
   * stays as it was. Everything must be loaded. Throws a `Refusal` that names what is wrong with it.
   */
  register(provider: string, config: ProviderConfig): void {
    this.#loaded.register(provider, config);
    this.#forgetExtra(provider);
  }

  /** Restores what was there before a provider was registered. */
  unregister(provider: string): void {
    this.#known?.unregister(provider);
    this.#forgetExtra(provider);
  }

  /** Looks for servers on this machine. */
  async lookAround(): Promise<void> {
    if (this.#options.offline) return;
    const { lookForLocalServers } = await import('./local-servers.ts');
    const { ports = {} } = this.#options;
    const found = await lookForLocalServers({ timeoutMs: LOCAL_MS, ports });
    this.#extra = [...this.#extra.filter(({ provider }) => !LOCAL.has(provider)), ...found];
  }

  /** Models that can be used now, in the order in which they are cycled. The scripted ones stand in for others. */
  available({ scripted = false } = {}): readonly Model[] {
    const known = this.#known?.available() ?? [];
    const ids = new Set(known.map(nameOf));
    const others = [...known, ...this.#extra.filter((model) => this.#isUsable(model) && !ids.has(nameOf(model)))];
    return scripted || others.length === 0 ? [...others, ...scriptedModels] : others;
  }

  /** Only these are cycled, if somebody chose some. */
  get scope(): readonly Choice[] | undefined {
    return this.#scope;
  }

  /**
   * Lets only the models be cycled that these patterns mean; answers what is wrong with the patterns. A key for this
   * process only is for the provider of the first.
   */
  async choose(patterns: readonly string[], apiKey?: string): Promise<readonly string[]> {
    await this.load({ anyway: true });
    if (patterns.some((pattern) => LOCAL.has(providerIn(pattern)))) await this.lookAround();
    const { scopeOf } = await import('./pattern.ts');
    const [first] = apiKey === undefined ? [] : scopeOf(patterns, this.#known?.inOrder() ?? []).choices;
    if (first && apiKey !== undefined) this.#useKey({ provider: first.model.provider, key: apiKey });
    const scripted = patterns.some((pattern) => /^tau\/|scripted/i.test(pattern));
    const { choices, warnings } = scopeOf(patterns, this.available({ scripted }));
    this.#scope = choices.length > 0 ? choices : undefined;
    this.#patterns = { patterns, apiKey };
    return warnings;
  }

  /** Looks again which models are meant by the patterns that were given, if some were. */
  async chooseAgain(): Promise<void> {
    if (this.#patterns) await this.choose(this.#patterns.patterns, this.#patterns.apiKey);
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
  named(provider: string, id: string): Model | undefined {
    const fits = (model: Model) => model.provider === provider && model.id === id;
    return scriptedModels.find(fits) ?? this.#known?.find(provider, id) ?? this.#extra.find(fits);
  }

  /** A model that can be used now. */
  find(provider: string, id: string): Model | undefined {
    const found = this.named(provider, id);
    return found && this.#isUsable(found) ? found : undefined;
  }

  /** Learns what there is of a provider that somebody named. */
  async learnOf(provider: string): Promise<void> {
    if (isScripted({ provider })) return;
    await this.load({ anyway: true });
    if (LOCAL.has(provider)) await this.lookAround();
  }

  /** Learns of a model that a session used. One that only its name is known of is taken at its word again. */
  async recall(provider: string, id: string): Promise<void> {
    await this.learnOf(provider);
    if (!this.find(provider, id) && this.#known?.isBuiltIn(provider) && this.#known.hasKey(provider)) {
      await this.granted({ pattern: id, provider });
    }
  }

  /** The model that somebody means, whether or not there is a key for it. Rejects with a `Refusal`. */
  async granted(wish: ModelWish): Promise<Granted> {
    const builtIn = scriptedNamed(wish);
    if (builtIn) return builtIn;
    await this.load({ anyway: true });
    await this.learnOf(wish.provider ?? providerIn(wish.pattern));
    const found = await this.#matching(wish);
    const { provider, id } = found.model;
    if (!this.has(provider, id)) this.#extra = [...this.#extra, found.model];
    if (wish.apiKey !== undefined) this.#useKey({ provider: found.model.provider, key: wish.apiKey });
    return found;
  }

  /** Why a model that was named cannot be used. */
  whyNot(provider: string, id: string): string {
    const name = `${provider}/${id}`;
    if (this.#known?.hasKey(provider)) return `Model not found: ${name}`;
    if (LOCAL.has(provider))
      return `Model not found: ${name}. No server on this machine has it, or none was looked for.`;
    return this.#known?.adviceFor(provider) ?? `No API key found for ${provider}`;
  }

  /** Whether there is such a model, be it that its key is missing. */
  has(provider: string, id: string): boolean {
    const isThis = (model: Model) => model.provider === provider && model.id === id;
    return this.#known?.find(provider, id) !== undefined || [...this.#extra, ...scriptedModels].some(isThis);
  }

  /** The providers that can be used, each with the place of its key; undefined where none is needed. */
  get keyPlaces(): ReadonlyMap<string, string | undefined> {
    return this.#known?.keyPlaces() ?? new Map();
  }

  /** The providers that a key can be stored for, preferred ones first. Everything must be loaded. */
  get keyTakers(): readonly KeyTaker[] {
    return this.#loaded.keyTakers();
  }

  /** Why providers cannot be used that the user's files speak of, a sentence each. */
  get obstacles(): readonly string[] {
    return this.#known?.obstacles ?? [];
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
  async keyAndHeaders(model: Pick<Model, 'provider' | 'id' | 'headers'>, signal?: AbortSignal): Promise<Access> {
    await this.load({ anyway: true });
    if (isScripted(model) || this.#isOpen(model)) return { apiKey: undefined, headers: {} };
    return this.#loaded.access(model, signal);
  }

  /** Who speaks to this model; what stands in the way is told when it is asked. `signal`: nobody waits any more. */
  async provider(model: Model, signal?: AbortSignal): Promise<Provider> {
    if (isScripted(model)) return this.#player();
    try {
      await this.load({ anyway: true });
      const [endpoint, wire] = await Promise.all([this.#endpoint(model, signal), this.#wire(model)]);
      return concealing(wire(endpoint), endpoint);
    } catch (error) {
      return failing(error instanceof ModelFailure ? error : new ModelFailure('auth_failed', messageOf(error)));
    }
  }

  async #wire(model: Model): Promise<Wire> {
    const stream = this.#known?.streamOf(model);
    if (stream) return (await import('./providers/own-stream.ts')).ownStream(stream);
    const { wireFor } = await import('./wires.ts');
    const { trustedFolder: cwd } = this.place;
    return wireFor(model.api, { agentDir: this.#options.agentDir, ...(cwd === undefined ? {} : { cwd }) });
  }

  async #endpoint(model: Model, signal: AbortSignal | undefined): Promise<Endpoint> {
    const { patience } = this.place;
    if (this.#isOpen(model)) {
      return { baseUrl: model.baseUrl ?? '', apiKey: undefined, headers: {}, patience };
    }
    if (!this.#known) throw new Refusal('model_not_found', this.whyNot(model.provider, model.id));
    return { ...(await this.#known.endpoint(model, signal)), patience };
  }

  async #player(): Promise<Provider> {
    if (!this.#scripted) {
      const { scriptedProvider } = await import('./scripted/player.ts');
      this.#scripted = scriptedProvider({ script: this.#options.script });
    }
    return this.#scripted;
  }

  async #learn(): Promise<KnownModels> {
    const [{ KnownModels }, { catalogue }] = await Promise.all([import('./known-models.ts'), import('./catalogue.ts')]);
    const { agentDir, env } = this.#options;
    return new KnownModels({ agentDir, env, catalogue, runtimeKey: this.#runtimeKey });
  }

  get #loaded(): KnownModels {
    if (!this.#known) throw new Error('The models are not loaded yet');
    return this.#known;
  }

  /** A server on this machine that asks for no key. */
  #isOpen({ provider }: Pick<Model, 'provider'>): boolean {
    return LOCAL.has(provider) && this.#known?.hasKey(provider) !== true;
  }

  /** What was taken at its word may mean something else now, or nothing. */
  #forgetExtra(provider: string): void {
    if (!LOCAL.has(provider)) this.#extra = this.#extra.filter((model) => model.provider !== provider);
  }

  #useKey(runtimeKey: RuntimeKey): void {
    this.#runtimeKey = runtimeKey;
    this.#known?.useKey(runtimeKey);
  }

  /** Models that can be used come first: a loose word rather means one of them, and few files are read to find it. */
  async #matching({ pattern, provider }: ModelWish): Promise<Granted> {
    const { findByPattern } = await import('./pattern.ts');
    const others = [...this.#extra, ...scriptedModels];
    const providers = [...new Set([...(this.#known?.providers() ?? []), ...others.map((model) => model.provider)])];
    const wanted = { pattern, provider, providers };
    try {
      const usable = findByPattern({ ...wanted, models: this.available({ scripted: true }) });
      if (usable.warning === undefined) return usable;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
    // Without the scripted ones, which can be used: an id that they lack means nothing to anybody.
    return findByPattern({ ...wanted, models: [...(this.#known?.inOrder() ?? []), ...this.#extra] });
  }

  #isUsable(model: Model): boolean {
    return isScripted(model) || LOCAL.has(model.provider) || this.#known?.hasKey(model.provider) === true;
  }
}

/** The provider that a name begins with, if it does. */
const providerIn = (name: string) => name.split('/', 1)[0] ?? '';

const nameOf = ({ provider, id }: Model) => `${provider}/${id}`;

const isScripted = ({ provider }: Pick<Model, 'provider'>) => provider === scriptedModels[0]?.provider;

/** A built-in model by its exact name, for which nothing need be loaded. */
function scriptedNamed({ pattern, provider }: ModelWish): Granted | undefined {
  const [, name = pattern, level] = /^(.+):([a-z]+)$/.exec(pattern) ?? [];
  const wanted = provider === undefined || name.startsWith(`${provider}/`) ? name : `${provider}/${name}`;
  const model = scriptedModels.find((one) => wanted === one.id || wanted === nameOf(one));
  if (!model || (level !== undefined && !isLevel(level))) return undefined;
  return level === undefined ? { model } : { model, thinkingLevel: level };
}

/** Says what stands in the way, as soon as it is asked. */
const failing = (failure: ModelFailure): Provider =>
  // biome-ignore lint/correctness/useYield: it never comes to that
  async function* () {
    throw failure;
  };

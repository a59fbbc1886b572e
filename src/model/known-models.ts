import { messageOf, Refusal } from '../protocol/errors.ts';
import { version } from '../protocol/generated/version.ts';
import type { Model, Result } from '../protocol/generated/vocabulary.ts';
import { variablesIn, valueProblem, resolveValue, readVariable } from '../store/config-value.ts';
import { type Credentials, credentialsPath, readCredentials, type OAuthCredential } from '../store/credentials.ts';
import { fileStamp } from '../store/json-file.ts';
import { type CustomProvider, type ModelsFile, modelsFilePath, readModelsFile } from '../store/models-file.ts';
import { customHeaders, customised, customOptions, valuesOf, withoutSlash } from './custom-models.ts';
import { defaultModel, preferredProviders } from './default-models.ts';
import type { Endpoint } from './endpoint.ts';
import { findKey, type KeyFound, keyAdvice, keyEntry, type RuntimeKey } from './key-lookup.ts';
import type { ProviderConfig, StreamSimple } from './provider-config.ts';
import { RegisteredProviders } from './registered-providers.ts';
import { everybodys } from './secret-variables.ts';

/** The models that come with tau. */
export interface Catalogue {
  providers(): readonly string[];
  models(provider: string): readonly Model[];
}

export interface KnownModelsOptions {
  readonly agentDir: string;
  readonly env: Environment;
  readonly catalogue: Catalogue;
  readonly runtimeKey?: RuntimeKey | undefined;
}

/** A provider that is asked with a key. */
export type KeyTaker = Result<'list_providers'>['providers'][number];

/** What goes along with every request to a model. */
export type Access = Pick<Endpoint, 'apiKey' | 'headers'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** The models of the catalogue, of the user's `models.json` and of extensions, and how each of them is reached. */
export class KnownModels {
  readonly #options: KnownModelsOptions;
  readonly #customised = new Map<string, readonly Model[]>();
  readonly #registered = new RegisteredProviders();
  #file: Reading<ModelsFile>;
  #auth: Reading<Credentials>;
  #runtimeKey: RuntimeKey | undefined;

  constructor(options: KnownModelsOptions) {
    this.#options = options;
    this.#runtimeKey = options.runtimeKey;
    this.#file = reading(options.agentDir, modelsFile);
    this.#auth = reading(options.agentDir, authFile);
  }

  /** Adds a provider or changes one, until it is taken back. Throws a `Refusal` that names what is wrong with it. */
  register(provider: string, config: ProviderConfig): void {
    this.#registered.register(provider, config);
    this.#customised.delete(provider);
  }

  /** Restores what was there before. */
  unregister(provider: string): void {
    this.#registered.unregister(provider);
    this.#customised.delete(provider);
  }

  /** Who speaks to a model whose API kind is of an extension's making. */
  streamOf(model: Model): StreamSimple | undefined {
    return this.#registered.streamOf(model);
  }

  /** Those of the catalogue, then those that only the user's file and extensions know. */
  providers(): readonly string[] {
    const own = this.#customNames().filter((provider) => (this.#custom(provider)?.models ?? []).length > 0);
    return [...new Set([...this.#options.catalogue.providers(), ...own])];
  }

  models(provider: string): readonly Model[] {
    const custom = this.#custom(provider);
    const isKept = this.isBuiltIn(provider) && !this.#registered.hasModels(provider);
    const builtIn = isKept ? this.#options.catalogue.models(provider) : [];
    if (!custom) return builtIn;
    const list = this.#customised.get(provider) ?? customised(provider, builtIn, custom);
    this.#customised.set(provider, list);
    return list;
  }

  all(): readonly Model[] {
    return this.providers().flatMap((provider) => this.models(provider));
  }

  /** All of them, those of preferred providers first. */
  inOrder(): readonly Model[] {
    return this.#providersInOrder().flatMap((provider) => this.models(provider));
  }

  /** The models of which nothing needed is known to be missing, those of preferred providers first. */
  available(): readonly Model[] {
    return this.#usable().flatMap((provider) => this.models(provider));
  }

  /** The model to use when nobody named one; undefined when none can be used. */
  preferred(): Model | undefined {
    for (const provider of this.#usable()) {
      const model = defaultModel(provider, this.models(provider));
      if (model) return model;
    }
    return undefined;
  }

  /** Uses a key that is given for this process only. */
  useKey(key: RuntimeKey): void {
    this.#runtimeKey = key;
  }

  /** Why a provider cannot be used, and what to do about it. */
  adviceFor(provider: string): string {
    const path = credentialsPath(this.#options.agentDir);
    const advice = this.providers().includes(provider) ? keyAdvice(provider, path) : describe(provider);
    return `No API key found for ${provider}. ${this.#obstacle(provider) ?? advice}`;
  }

  find(provider: string, id: string): Model | undefined {
    return this.models(provider).find((model) => model.id === id);
  }

  /** Whether there is a key for this provider, or it needs none. Runs no command and asks nobody. */
  hasKey(provider: string): boolean {
    if (this.#findKey(provider)) return this.#obstacle(provider) === undefined;
    return this.#needsNoKey(provider);
  }

  /** The providers that can be used, each with the place of its key; undefined where none is needed. */
  keyPlaces(): ReadonlyMap<string, string | undefined> {
    return new Map(this.#usable().map((provider) => [provider, this.#findKey(provider)?.place]));
  }

  /** The providers that a key can be stored for, preferred ones first. */
  keyTakers(): readonly KeyTaker[] {
    return this.#providersInOrder()
      .filter((provider) => !this.#needsNoKey(provider))
      .map((id) => ({
        id,
        models: this.models(id).length,
        configured: this.hasKey(id),
        stored: this.#auth.content.credentials.get(id)?.type === 'api_key',
      }));
  }

  /** Why providers cannot be used that the user's files speak of, a sentence each. */
  get obstacles(): readonly string[] {
    const spoken = [...this.#customNames(), ...this.#auth.content.credentials.keys()];
    return [...new Set(spoken)].flatMap((provider) => {
      const obstacle = this.#obstacle(provider);
      return obstacle === undefined ? [] : `${provider} cannot be used. ${obstacle}`;
    });
  }

  /** Where a model is reached. Rejects with a `Refusal` when its key or a header cannot be had. */
  async endpoint(model: Model, signal?: AbortSignal): Promise<Omit<Endpoint, 'patience'>> {
    const { provider, id } = model;
    const { baseUrl } = this.find(provider, id) ?? model;
    if (!baseUrl && !this.streamOf(model))
      throw missing(`No address is known for ${provider}/${id}. Give providers.${provider} a baseUrl in models.json.`);
    const custom = this.#custom(provider);
    const options = custom && customOptions(custom, id);
    return {
      baseUrl: withoutSlash(baseUrl ?? ''),
      ...(options ? { options } : {}),
      ...(await this.access(model, signal)),
    };
  }

  /** What a request to a model needs beside its address. Rejects as `endpoint` does. */
  async access({ provider, id, ...given }: Named, signal?: AbortSignal): Promise<Access> {
    const { headers } = this.find(provider, id) ?? given;
    const [apiKey, own] = await Promise.all([this.#key(provider, signal), this.#headers(provider, id, signal)]);
    return {
      apiKey,
      headers: {
        'user-agent': `tau/${version}`,
        ...texts(headers ?? {}),
        ...own,
        ...(this.#custom(provider)?.authHeader && apiKey !== undefined ? { authorization: `Bearer ${apiKey}` } : {}),
      },
    };
  }

  /** The set variables that the user's files name as secrets: tools need not know them. */
  get secretNames(): readonly string[] {
    const keys = [...this.#auth.content.credentials.values()].flatMap((one) => (one.type === 'api_key' ? one.key : []));
    const values = this.#customNames().flatMap((provider) => valuesOf(this.#custom(provider) ?? {}));
    const names = new Set([...keys, ...values].flatMap(variablesIn));
    return [...names].filter((name) => !everybodys.has(name) && readVariable(this.#options.env, name) !== undefined);
  }

  /** What is wrong with the user's files, a sentence each. */
  get problems(): readonly string[] {
    return [...this.#file.content.problems, ...this.#auth.content.problems];
  }

  /** Reads again what has changed on disk. */
  refresh(): void {
    const { agentDir } = this.#options;
    const file = reading(agentDir, modelsFile, this.#file);
    if (file !== this.#file) this.#customised.clear();
    this.#file = file;
    this.#auth = reading(agentDir, authFile, this.#auth);
  }

  async #key(provider: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const found = this.#findKey(provider);
    switch (found?.kind) {
      case 'key':
        return found.key.trim();
      case 'value':
        return (await this.#resolve(found.value, { provider, place: noKey(provider, found.place), signal })).trim();
      case 'signIn':
        return this.#signedIn(provider, found.credential);
      case 'expired':
        throw missing(this.#expired(provider));
      case undefined:
        if (this.#needsNoKey(provider)) return undefined;
        throw missing(this.adviceFor(provider));
      default:
        return found satisfies never;
    }
  }

  async #signedIn(provider: string, credential: OAuthCredential): Promise<string> {
    const signIn = this.#registered.signInOf(provider);
    if (!signIn) throw missing(this.#expired(provider));
    const { agentDir } = this.#options;
    try {
      const { keyOfSignIn } = await import('./sign-in.ts');
      return await keyOfSignIn({ agentDir, provider, credential, signIn });
    } catch (error) {
      throw missing(noKey(provider, `The sign-in cannot be used: ${messageOf(error)}`));
    }
  }

  async #headers(provider: string, id: string, signal: AbortSignal | undefined): Promise<Record<string, string>> {
    const custom = this.#custom(provider);
    const source = this.#registered.says(provider, 'headers') ? 'registerProvider' : 'models.json';
    const written = Object.entries(custom ? customHeaders(custom, id) : {});
    const resolved = written.map(async ([name, value]): Promise<[string, string]> => {
      const place = `${source}: the header ${name} of ${provider}`;
      return [name, await this.#resolve(value, { provider, place, signal })];
    });
    return Object.fromEntries(await Promise.all(resolved));
  }

  async #resolve(value: string, { provider, place, signal }: Reference): Promise<string> {
    try {
      return await resolveValue(value, { env: this.#envFor(provider), cwd: this.#options.agentDir, signal });
    } catch (error) {
      throw missing(`${place}: ${messageOf(error)}`);
    }
  }

  /** What is known to be wrong with the key there is. */
  #obstacle(provider: string): string | undefined {
    const found = this.#findKey(provider);
    if (found?.kind === 'expired') return this.#expired(provider);
    const obstacle = found?.kind === 'value' ? valueProblem(found.value, this.#envFor(provider)) : undefined;
    return obstacle === undefined ? undefined : `${found?.place}: ${obstacle}`;
  }

  #expired(provider: string): string {
    const path = credentialsPath(this.#options.agentDir);
    const happened = `The sign-in for ${provider} has expired, and tau cannot renew it`;
    return `${happened}. Sign in again with pi, or put ${keyEntry(provider)} in its place in ${path}.`;
  }

  #findKey(provider: string): KeyFound | undefined {
    const { env } = this.#options;
    const credential = this.#auth.content.credentials.get(provider);
    return findKey(provider, {
      runtimeKey: this.#runtimeKey,
      credential,
      env,
      custom: this.#custom(provider),
      customPlace: this.#registered.says(provider, 'apiKey')
        ? `registerProvider: ${provider}`
        : `models.json: providers.${provider}`,
      hasSignIn: this.#registered.signInOf(provider) !== undefined,
    });
  }

  #envFor(provider: string): Environment {
    const credential = this.#auth.content.credentials.get(provider);
    const { env } = this.#options;
    return credential?.type === 'api_key' && credential.env ? { ...env, ...credential.env } : env;
  }

  /** A server of the user's own, such as one on the same machine. */
  #needsNoKey(provider: string): boolean {
    const { models = [], apiKey, authHeader } = this.#custom(provider) ?? {};
    if (this.isBuiltIn(provider) || this.#registered.signInOf(provider)) return false;
    return models.length > 0 && apiKey === undefined && !authHeader;
  }

  /** What the user and extensions say of a provider. */
  #custom(provider: string): CustomProvider | undefined {
    return this.#registered.over(provider, this.#file.content.providers.get(provider));
  }

  #customNames(): string[] {
    return [...new Set([...this.#file.content.providers.keys(), ...this.#registered.names])];
  }

  #usable(): readonly string[] {
    return this.#providersInOrder().filter((provider) => this.hasKey(provider));
  }

  #providersInOrder(): readonly string[] {
    const known = new Set(this.providers());
    return [...new Set([...preferredProviders.filter((provider) => known.has(provider)), ...known])];
  }

  /** Whether the provider is one of the catalogue. */
  isBuiltIn(provider: string): boolean {
    return this.#options.catalogue.providers().includes(provider);
  }
}

type Named = Pick<Model, 'provider' | 'id' | 'headers'>;

/** What stood in a file when it was read. */
interface Reading<T> {
  readonly stamp: string;
  readonly content: T;
}

interface Source<T> {
  readonly path: (agentDir: string) => string;
  readonly read: (agentDir: string) => T;
}

const modelsFile: Source<ModelsFile> = { path: modelsFilePath, read: readModelsFile };
const authFile: Source<Credentials> = { path: credentialsPath, read: readCredentials };

function reading<T>(agentDir: string, { path, read }: Source<T>, before?: Reading<T>): Reading<T> {
  // Before the content: what is written in between is seen next time.
  const stamp = fileStamp(path(agentDir));
  return before?.stamp === stamp ? before : { stamp, content: read(agentDir) };
}

const describe = (provider: string) => `There is no such provider: describe providers.${provider} in models.json.`;

/** Where a value stands, and who waits for what it means. */
interface Reference {
  readonly provider: string;
  readonly place: string;
  readonly signal: AbortSignal | undefined;
}

const noKey = (provider: string, place: string) => `No API key found for ${provider}. ${place}`;

const missing = (message: string) => new Refusal('model_not_found', message);

const texts = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );

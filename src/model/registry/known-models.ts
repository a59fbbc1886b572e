import { messageOf, Refusal } from '../../protocol/errors.ts';
import { version } from '../../protocol/generated/version.ts';
import type { Model, Result } from '../../protocol/generated/vocabulary.ts';
import { readVariable, resolveValue, valueProblem, variablesIn } from '../../store/config-value.ts';
import { type Credentials, credentialsPath, type OAuthCredential, readCredentials } from '../../store/credentials.ts';
import { fileStamp } from '../../store/json-file.ts';
import { type CustomProvider, type ModelsFile, modelsFilePath, readModelsFile } from '../../store/models-file.ts';
import type { Endpoint } from '../endpoint.ts';
import { type FoundKey, findKey, keyAdvice, keyEntry, type RuntimeKey } from '../keys/key-lookup.ts';
import { sharedVariables } from '../keys/secret-variables.ts';
import {
  applyCustomisation,
  customHeaders,
  customOptions,
  secretBearingValues,
  withoutTrailingSlash,
} from './custom-models.ts';
import { defaultModel, preferredProviders } from './default-models.ts';
import type { ProviderConfig, StreamSimple } from './provider-config.ts';
import { RegisteredProviders } from './registered-providers.ts';

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

export type KeyedProvider = Result<'list_providers'>['providers'][number];

export type ModelAuth = Pick<Endpoint, 'apiKey' | 'headers'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** The models of the catalogue, the user's `models.json` and extensions, with their endpoints and keys. */
export class KnownModels {
  readonly #options: KnownModelsOptions;
  readonly #customisedModels = new Map<string, readonly Model[]>();
  readonly #registered = new RegisteredProviders();
  #modelsFile: FileSnapshot<ModelsFile>;
  #credentials: FileSnapshot<Credentials>;
  #runtimeKey: RuntimeKey | undefined;

  constructor(options: KnownModelsOptions) {
    this.#options = options;
    this.#runtimeKey = options.runtimeKey;
    this.#modelsFile = readIfChanged(options.agentDir, modelsFile);
    this.#credentials = readIfChanged(options.agentDir, authFile);
  }

  /** Adds or changes a provider until it is unregistered. Throws a `Refusal` if the config is invalid. */
  register(provider: string, config: ProviderConfig): void {
    this.#registered.register(provider, config);
    this.#customisedModels.delete(provider);
  }

  unregister(provider: string): void {
    this.#registered.unregister(provider);
    this.#customisedModels.delete(provider);
  }

  /** The stream function of an extension for this model's API kind. */
  streamOf(model: Model): StreamSimple | undefined {
    return this.#registered.streamOf(model);
  }

  /** The providers of the catalogue, then those of the user's file and of extensions. */
  providers(): readonly string[] {
    const own = this.#customNames().filter((provider) => (this.#custom(provider)?.models ?? []).length > 0);
    return [...new Set([...this.#options.catalogue.providers(), ...own])];
  }

  models(provider: string): readonly Model[] {
    const custom = this.#custom(provider);
    const keepsBuiltIn = this.isBuiltIn(provider) && !this.#registered.hasModels(provider);
    const builtIn = keepsBuiltIn ? this.#options.catalogue.models(provider) : [];
    if (!custom) return builtIn;
    const list = this.#customisedModels.get(provider) ?? applyCustomisation(provider, builtIn, custom);
    this.#customisedModels.set(provider, list);
    return list;
  }

  all(): readonly Model[] {
    return this.providers().flatMap((provider) => this.models(provider));
  }

  /** All models, preferred providers first. */
  inPreferenceOrder(): readonly Model[] {
    return this.#providersByPreference().flatMap((provider) => this.models(provider));
  }

  /** The models with no known obstacle to their use, preferred providers first. */
  available(): readonly Model[] {
    return this.#usableProviders().flatMap((provider) => this.models(provider));
  }

  /** The default model; undefined if none is usable. */
  preferred(): Model | undefined {
    for (const provider of this.#usableProviders()) {
      const model = defaultModel(provider, this.models(provider));
      if (model) return model;
    }
    return undefined;
  }

  setRuntimeKey(key: RuntimeKey): void {
    this.#runtimeKey = key;
  }

  /** Tells the user why a provider cannot be used, and the remedy. */
  missingKeyMessage(provider: string): string {
    const path = credentialsPath(this.#options.agentDir);
    const advice = this.providers().includes(provider) ? keyAdvice(provider, path) : unknownProviderAdvice(provider);
    return `No API key found for ${provider}. ${this.#keyProblem(provider) ?? advice}`;
  }

  find(provider: string, id: string): Model | undefined {
    return this.models(provider).find((model) => model.id === id);
  }

  /** Whether the provider has a key or needs none. Runs no command and sends no request. */
  hasKey(provider: string): boolean {
    if (this.#findKey(provider)) return this.#keyProblem(provider) === undefined;
    return this.#needsNoKey(provider);
  }

  /** The usable providers with the location of their key; undefined if none is needed. */
  keyLocations(): ReadonlyMap<string, string | undefined> {
    return new Map(this.#usableProviders().map((provider) => [provider, this.#findKey(provider)?.location]));
  }

  /** The providers that a key can be stored for, preferred ones first. */
  keyedProviders(): readonly KeyedProvider[] {
    return this.#providersByPreference()
      .filter((provider) => !this.#needsNoKey(provider))
      .map((id) => ({
        id,
        models: this.models(id).length,
        configured: this.hasKey(id),
        stored: this.#credentials.content.credentials.get(id)?.type === 'api_key',
      }));
  }

  /** Why providers of the user's files cannot be used, one sentence each. */
  get keyProblems(): readonly string[] {
    const mentioned = [...this.#customNames(), ...this.#credentials.content.credentials.keys()];
    return [...new Set(mentioned)].flatMap((provider) => {
      const problem = this.#keyProblem(provider);
      return problem === undefined ? [] : `${provider} cannot be used. ${problem}`;
    });
  }

  /** Resolves a model's endpoint. Rejects with a `Refusal` if its key or a header cannot be resolved. */
  async endpoint(model: Model, signal?: AbortSignal): Promise<Omit<Endpoint, 'timeouts'>> {
    const { provider, id } = model;
    const { baseUrl } = this.find(provider, id) ?? model;
    if (!baseUrl && !this.streamOf(model))
      throw notFound(`No address is known for ${provider}/${id}. Give providers.${provider} a baseUrl in models.json.`);
    const custom = this.#custom(provider);
    const options = custom && customOptions(custom, id);
    return {
      baseUrl: withoutTrailingSlash(baseUrl ?? ''),
      ...(options ? { options } : {}),
      ...(await this.auth(model, signal)),
    };
  }

  /** Resolves the key and headers of a model. Rejects as `endpoint` does. */
  async auth({ provider, id, ...given }: ModelRef, signal?: AbortSignal): Promise<ModelAuth> {
    const { headers } = this.find(provider, id) ?? given;
    const [apiKey, own] = await Promise.all([
      this.#resolveKey(provider, signal),
      this.#resolveHeaders(provider, id, signal),
    ]);
    return {
      apiKey,
      headers: {
        'user-agent': `tau/${version}`,
        ...stringHeaders(headers ?? {}),
        ...own,
        ...(this.#custom(provider)?.authHeader && apiKey !== undefined ? { authorization: `Bearer ${apiKey}` } : {}),
      },
    };
  }

  /** The set variables that the user's files name as secrets, which tools must not get. */
  get secretNames(): readonly string[] {
    const keys = [...this.#credentials.content.credentials.values()].flatMap((one) =>
      one.type === 'api_key' ? one.key : [],
    );
    const values = this.#customNames().flatMap((provider) => secretBearingValues(this.#custom(provider) ?? {}));
    const names = new Set([...keys, ...values].flatMap(variablesIn));
    return [...names].filter(
      (name) => !sharedVariables.has(name) && readVariable(this.#options.env, name) !== undefined,
    );
  }

  /** The problems of the user's files, one sentence each. */
  get problems(): readonly string[] {
    return [...this.#modelsFile.content.problems, ...this.#credentials.content.problems];
  }

  /** Reads files again that have changed on disk. */
  refresh(): void {
    const { agentDir } = this.#options;
    const file = readIfChanged(agentDir, modelsFile, this.#modelsFile);
    if (file !== this.#modelsFile) this.#customisedModels.clear();
    this.#modelsFile = file;
    this.#credentials = readIfChanged(agentDir, authFile, this.#credentials);
  }

  async #resolveKey(provider: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const found = this.#findKey(provider);
    switch (found?.kind) {
      case 'key':
        return found.key.trim();
      case 'value':
        return (
          await this.#resolveValue(found.value, { provider, location: noKeyMessage(provider, found.location), signal })
        ).trim();
      case 'signIn':
        return this.#signInKey(provider, found.credential);
      case 'expired':
        throw notFound(this.#expiredMessage(provider));
      case undefined:
        if (this.#needsNoKey(provider)) return undefined;
        throw notFound(this.missingKeyMessage(provider));
      default:
        return found satisfies never;
    }
  }

  async #signInKey(provider: string, credential: OAuthCredential): Promise<string> {
    const signIn = this.#registered.signInOf(provider);
    if (!signIn) throw notFound(this.#expiredMessage(provider));
    const { agentDir } = this.#options;
    try {
      const { apiKeyFromSignIn } = await import('../keys/sign-in.ts');
      return await apiKeyFromSignIn({ agentDir, provider, credential, signIn });
    } catch (error) {
      throw notFound(noKeyMessage(provider, `The sign-in cannot be used: ${messageOf(error)}`));
    }
  }

  async #resolveHeaders(
    provider: string,
    id: string,
    signal: AbortSignal | undefined,
  ): Promise<Record<string, string>> {
    const custom = this.#custom(provider);
    const source = this.#registered.defines(provider, 'headers') ? 'registerProvider' : 'models.json';
    const headers = Object.entries(custom ? customHeaders(custom, id) : {});
    const resolved = headers.map(async ([name, value]): Promise<[string, string]> => {
      const location = `${source}: the header ${name} of ${provider}`;
      return [name, await this.#resolveValue(value, { provider, location, signal })];
    });
    return Object.fromEntries(await Promise.all(resolved));
  }

  async #resolveValue(value: string, { provider, location, signal }: ValueContext): Promise<string> {
    try {
      return await resolveValue(value, { env: this.#envFor(provider), cwd: this.#options.agentDir, signal });
    } catch (error) {
      throw notFound(`${location}: ${messageOf(error)}`);
    }
  }

  /** The known problem of the provider's key. */
  #keyProblem(provider: string): string | undefined {
    const found = this.#findKey(provider);
    if (found?.kind === 'expired') return this.#expiredMessage(provider);
    const obstacle = found?.kind === 'value' ? valueProblem(found.value, this.#envFor(provider)) : undefined;
    return obstacle === undefined ? undefined : `${found?.location}: ${obstacle}`;
  }

  #expiredMessage(provider: string): string {
    const path = credentialsPath(this.#options.agentDir);
    const cause = `The sign-in for ${provider} has expired, and tau cannot renew it`;
    return `${cause}. Sign in again with pi, or put ${keyEntry(provider)} in its place in ${path}.`;
  }

  #findKey(provider: string): FoundKey | undefined {
    const { env } = this.#options;
    const credential = this.#credentials.content.credentials.get(provider);
    return findKey(provider, {
      runtimeKey: this.#runtimeKey,
      credential,
      env,
      custom: this.#custom(provider),
      customLocation: this.#registered.defines(provider, 'apiKey')
        ? `registerProvider: ${provider}`
        : `models.json: providers.${provider}`,
      hasSignIn: this.#registered.signInOf(provider) !== undefined,
    });
  }

  #envFor(provider: string): Environment {
    const credential = this.#credentials.content.credentials.get(provider);
    const { env } = this.#options;
    return credential?.type === 'api_key' && credential.env ? { ...env, ...credential.env } : env;
  }

  /** Servers of the user's own, such as local ones. */
  #needsNoKey(provider: string): boolean {
    const { models = [], apiKey, authHeader } = this.#custom(provider) ?? {};
    if (this.isBuiltIn(provider) || this.#registered.signInOf(provider)) return false;
    return models.length > 0 && apiKey === undefined && !authHeader;
  }

  /** The settings of the user's file and of extensions. */
  #custom(provider: string): CustomProvider | undefined {
    return this.#registered.mergedWith(provider, this.#modelsFile.content.providers.get(provider));
  }

  #customNames(): string[] {
    return [...new Set([...this.#modelsFile.content.providers.keys(), ...this.#registered.names])];
  }

  #usableProviders(): readonly string[] {
    return this.#providersByPreference().filter((provider) => this.hasKey(provider));
  }

  #providersByPreference(): readonly string[] {
    const known = new Set(this.providers());
    return [...new Set([...preferredProviders.filter((provider) => known.has(provider)), ...known])];
  }

  isBuiltIn(provider: string): boolean {
    return this.#options.catalogue.providers().includes(provider);
  }
}

type ModelRef = Pick<Model, 'provider' | 'id' | 'headers'>;

interface FileSnapshot<T> {
  readonly stamp: string;
  readonly content: T;
}

interface FileSource<T> {
  readonly path: (agentDir: string) => string;
  readonly read: (agentDir: string) => T;
}

const modelsFile: FileSource<ModelsFile> = { path: modelsFilePath, read: readModelsFile };
const authFile: FileSource<Credentials> = { path: credentialsPath, read: readCredentials };

function readIfChanged<T>(agentDir: string, { path, read }: FileSource<T>, before?: FileSnapshot<T>): FileSnapshot<T> {
  // Before the content: a write in between is found next time.
  const stamp = fileStamp(path(agentDir));
  return before?.stamp === stamp ? before : { stamp, content: read(agentDir) };
}

const unknownProviderAdvice = (provider: string) =>
  `There is no such provider: describe providers.${provider} in models.json.`;

interface ValueContext {
  readonly provider: string;
  readonly location: string;
  readonly signal: AbortSignal | undefined;
}

const noKeyMessage = (provider: string, detail: string) => `No API key found for ${provider}. ${detail}`;

const notFound = (message: string) => new Refusal('model_not_found', message);

const stringHeaders = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );

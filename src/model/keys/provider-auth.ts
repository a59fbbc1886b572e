import { messageOf, Refusal } from '../../protocol/errors.ts';
import { version } from '../../protocol/generated/version.ts';
import type { Model, Result } from '../../protocol/generated/vocabulary.ts';
import { readVariable, resolveValue, valueProblem, variablesIn } from '../../store/config-value.ts';
import { type Credentials, credentialsPath, type OAuthCredential, readCredentials } from '../../store/credentials.ts';
import { type FileSnapshot, readIfChanged } from '../../store/json-file.ts';
import type { Endpoint } from '../endpoint.ts';
import { customHeaders, customOptions, secretBearingValues, withoutTrailingSlash } from '../registry/custom-models.ts';
import { defaultModel } from '../registry/default-models.ts';
import type { ModelList } from '../registry/model-list.ts';
import { type FoundKey, findKey, keyAdvice, keyEntry, type RuntimeKey } from './key-lookup.ts';
import { sharedVariables } from './secret-variables.ts';
import { apiKeyFromSignIn } from './sign-in.ts';

export interface ProviderAuthOptions {
  readonly agentDir: string;
  readonly env: Environment;
  readonly list: ModelList;
}

export type ModelAuth = Pick<Endpoint, 'apiKey' | 'headers'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** The keys, headers and endpoints of the listed providers, and which of them are usable. */
export class ProviderAuth {
  readonly #options: ProviderAuthOptions;
  readonly #list: ModelList;
  #file: FileSnapshot<Credentials>;
  #runtimeKey: RuntimeKey | undefined;

  constructor(options: ProviderAuthOptions) {
    this.#options = options;
    this.#list = options.list;
    this.#file = this.#readFile();
  }

  setRuntimeKey(key: RuntimeKey): void {
    this.#runtimeKey = key;
  }

  /** Reads `auth.json` again if it has changed. */
  refresh(): void {
    this.#file = this.#readFile(this.#file);
  }

  /** The problems of `auth.json`, one sentence each. */
  get problems(): readonly string[] {
    return this.#file.content.problems;
  }

  /** The models with no known obstacle to their use, preferred providers first. */
  usableModels(): readonly Model[] {
    return this.#usableProviders().flatMap((provider) => this.#list.models(provider));
  }

  /** The default model; undefined if none is usable. */
  preferredModel(): Model | undefined {
    for (const provider of this.#usableProviders()) {
      const model = defaultModel(provider, this.#list.models(provider));
      if (model) return model;
    }
    return undefined;
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
  keyedProviders(): Result<'list_providers'>['providers'] {
    return this.#list
      .providersByPreference()
      .filter((provider) => !this.#needsNoKey(provider))
      .map((id) => ({
        id,
        models: this.#list.models(id).length,
        configured: this.hasKey(id),
        stored: this.#credential(id)?.type === 'api_key',
      }));
  }

  /** Why providers of the user's files cannot be used, one sentence each. */
  get keyProblems(): readonly string[] {
    const mentioned = [...this.#list.customised(), ...this.#file.content.credentials.keys()];
    return [...new Set(mentioned)].flatMap((provider) => {
      const problem = this.#keyProblem(provider);
      return problem === undefined ? [] : `${provider} cannot be used. ${problem}`;
    });
  }

  /** Tells the user why a provider cannot be used, and the remedy. */
  missingKeyMessage(provider: string): string {
    const isListed = this.#list.providers().includes(provider);
    const advice = isListed ? keyAdvice(provider, this.#path) : unknownProviderAdvice(provider);
    return noKeyMessage(provider, this.#keyProblem(provider) ?? advice);
  }

  /** The set variables that the user's files name as secrets, which tools must not get. */
  get secretNames(): readonly string[] {
    const keys = [...this.#file.content.credentials.values()].flatMap((one) => (one.type === 'api_key' ? one.key : []));
    const values = this.#list
      .customised()
      .flatMap((provider) => secretBearingValues(this.#list.settings(provider) ?? {}));
    const names = new Set([...keys, ...values].flatMap(variablesIn));
    return [...names].filter(
      (name) => !sharedVariables.has(name) && readVariable(this.#options.env, name) !== undefined,
    );
  }

  /** Resolves a model's endpoint. Rejects with a `Refusal` if its key or a header cannot be resolved. */
  async endpoint(model: Model, signal?: AbortSignal): Promise<Omit<Endpoint, 'timeouts'>> {
    const { provider, id } = model;
    const { baseUrl } = this.#list.find(provider, id) ?? model;
    if (!baseUrl && !this.#list.registered.streamOf(model))
      throw notFound(`No address is known for ${provider}/${id}. Give providers.${provider} a baseUrl in models.json.`);
    const settings = this.#list.settings(provider);
    const options = settings && customOptions(settings, id);
    return {
      baseUrl: withoutTrailingSlash(baseUrl ?? ''),
      ...(options ? { options } : {}),
      ...(await this.keyAndHeaders(model, signal)),
    };
  }

  /** Resolves the key and headers of a model. Rejects as `endpoint` does. */
  async keyAndHeaders({ provider, id, ...given }: ModelRef, signal?: AbortSignal): Promise<ModelAuth> {
    const { headers } = this.#list.find(provider, id) ?? given;
    const [apiKey, own] = await Promise.all([
      this.#resolveKey(provider, signal),
      this.#resolveHeaders(provider, id, signal),
    ]);
    const isBearer = this.#list.settings(provider)?.authHeader && apiKey !== undefined;
    return {
      apiKey,
      headers: {
        'user-agent': `tau/${version}`,
        ...stringHeaders(headers ?? {}),
        ...own,
        ...(isBearer ? { authorization: `Bearer ${apiKey}` } : {}),
      },
    };
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
    const signIn = this.#list.registered.signInOf(provider);
    if (!signIn) throw notFound(this.#expiredMessage(provider));
    const { agentDir } = this.#options;
    try {
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
    const settings = this.#list.settings(provider);
    const source = this.#list.registered.defines(provider, 'headers') ? 'registerProvider' : 'models.json';
    const headers = Object.entries(settings ? customHeaders(settings, id) : {});
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
    const cause = `The sign-in for ${provider} has expired, and tau cannot renew it`;
    return `${cause}. Sign in again with pi, or put ${keyEntry(provider)} in its place in ${this.#path}.`;
  }

  #findKey(provider: string): FoundKey | undefined {
    const { registered } = this.#list;
    return findKey(provider, {
      runtimeKey: this.#runtimeKey,
      credential: this.#credential(provider),
      env: this.#options.env,
      custom: this.#list.settings(provider),
      customLocation: registered.defines(provider, 'apiKey')
        ? `registerProvider: ${provider}`
        : `models.json: providers.${provider}`,
      hasSignIn: registered.signInOf(provider) !== undefined,
    });
  }

  #envFor(provider: string): Environment {
    const credential = this.#credential(provider);
    const { env } = this.#options;
    return credential?.type === 'api_key' && credential.env ? { ...env, ...credential.env } : env;
  }

  /** Servers of the user's own, such as local ones. */
  #needsNoKey(provider: string): boolean {
    const { models = [], apiKey, authHeader } = this.#list.settings(provider) ?? {};
    if (this.#list.isBuiltIn(provider) || this.#list.registered.signInOf(provider)) return false;
    return models.length > 0 && apiKey === undefined && !authHeader;
  }

  #usableProviders(): readonly string[] {
    return this.#list.providersByPreference().filter((provider) => this.hasKey(provider));
  }

  #credential(provider: string) {
    return this.#file.content.credentials.get(provider);
  }

  get #path(): string {
    return credentialsPath(this.#options.agentDir);
  }

  #readFile(before?: FileSnapshot<Credentials>): FileSnapshot<Credentials> {
    return readIfChanged(this.#path, () => readCredentials(this.#options.agentDir), before);
  }
}

type ModelRef = Pick<Model, 'provider' | 'id' | 'headers'>;

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

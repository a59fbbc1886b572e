import { messageOf, Refusal } from '../../protocol/errors.ts';
import { version } from '../../protocol/generated/version.ts';
import type { Model, Result } from '../../protocol/generated/vocabulary.ts';
import { readVariable, resolveValue, valueProblem, variablesIn } from '../../store/config-value.ts';
import { type Credentials, credentialsPath, type OAuthCredential, readCredentials } from '../../store/credentials.ts';
import { type FileSnapshot, readIfChanged } from '../../store/json-file.ts';
import { hasOwnAddress } from '../../store/models-file.ts';
import { cloudAdvice, cloudEnvironment, cloudProblem } from '../clouds/cloud-providers.ts';
import { type CloudAccess, CredentialCache } from '../clouds/credential-cache.ts';
import type { Endpoint } from '../endpoint.ts';
import { customHeaders, customOptions, secretBearingValues, withoutTrailingSlash } from '../registry/custom-models.ts';
import { defaultModel } from '../registry/default-models.ts';
import type { ModelList } from '../registry/model-list.ts';
import { ModelFailure } from '../request.ts';
import type { LoginInteraction } from '../sign-in/flow.ts';
import { forbiddenSignIn, signInProvider } from '../sign-in/sign-in-providers.ts';
import { untilAbort } from '../until-abort.ts';
import { type FoundKey, findKey, keyAdvice, keyEntry, type RuntimeKey } from './key-lookup.ts';
import { sharedVariables } from './secret-variables.ts';
import { RenewalError, type SignInAuth, SignIns } from './sign-in.ts';

export interface ProviderAuthOptions {
  readonly agentDir: string;
  readonly env: Environment;
  readonly list: ModelList;
  /** Replaces the limit of a renewal. */
  readonly renewTimeoutMs?: number;
}

export type ModelAuth = Pick<Endpoint, 'apiKey' | 'headers'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** The keys, headers and endpoints of the listed providers, and which of them are usable. */
export class ProviderAuth {
  readonly signIns: SignIns;
  readonly #options: ProviderAuthOptions;
  readonly #list: ModelList;
  #file: FileSnapshot<Credentials>;
  readonly #runtimeKeys = new Map<string, string>();
  readonly #cache = new CredentialCache();

  constructor(options: ProviderAuthOptions) {
    this.#options = options;
    this.#list = options.list;
    this.signIns = new SignIns(options);
    this.#file = this.#readFile();
    this.#list.accountModels = (provider, models) => this.#accountModels(provider, models);
  }

  /** The stored sign-in that requests of a provider use. */
  signInOf(provider: string): OAuthCredential | undefined {
    const credential = this.#credential(provider);
    return credential?.type === 'oauth' && !this.#runtimeKeys.has(provider) ? credential : undefined;
  }

  setRuntimeKey({ provider, key }: RuntimeKey): void {
    this.#runtimeKeys.set(provider, key);
  }

  removeRuntimeKey(provider: string): void {
    this.#runtimeKeys.delete(provider);
  }

  /** The source of the key that is used for a provider; undefined if there is none. */
  keySource(provider: string): { kind: 'runtime' | 'stored' | 'signIn' | 'other'; location: string } | undefined {
    const found = this.#findKey(provider);
    if (!found) return undefined;
    const stored = this.#credential(provider);
    const kind = stored?.type === 'oauth' ? 'signIn' : stored ? 'stored' : 'other';
    return { kind: this.#runtimeKeys.has(provider) ? 'runtime' : kind, location: found.location };
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
      .filter((provider) => !this.#needsNoKey(provider) && signInProvider(provider)?.acceptsKeys !== false)
      .map((id) => ({
        id,
        models: this.#list.models(id).length,
        configured: this.hasKey(id),
        stored: this.#credential(id)?.type === 'api_key',
      }));
  }

  /** The providers that can be signed in to. */
  loginProviders(): Result<'get_login_providers'>['providers'] {
    return this.signIns.providers().map(({ id, name, available }) => ({
      id,
      name,
      available,
      authenticated: this.hasKey(id),
    }));
  }

  /** Signs in to a provider and stores the result. Rejects with a `Refusal` if there is no sign-in for it. */
  async logIn(provider: string, interaction: LoginInteraction): Promise<void> {
    await this.signIns.logIn(provider, interaction);
    this.refresh();
  }

  /** Why providers of the user's files cannot be used, one sentence each. */
  get keyProblems(): readonly string[] {
    const mentioned = [...this.#list.customised(), ...this.#file.content.credentials.keys()];
    return [...new Set(mentioned)].flatMap((provider) => {
      const problem = this.#keyProblem(provider);
      return problem === undefined ? [] : cannotBeUsed(provider, problem);
    });
  }

  /** The message with the reason and the remedy. */
  missingKeyMessage(provider: string): string {
    const missing = this.#cloudProblem(provider);
    if (missing !== undefined) return cannotBeUsed(provider, missing);
    return noKeyMessage(provider, this.#keyProblem(provider) ?? this.#advice(provider));
  }

  /** The set variables that the user's files name as secrets, which tools must not get. */
  get secretNames(): readonly string[] {
    const stored = [...this.#file.content.credentials.values()];
    const keys = stored.flatMap((one) => (one.type === 'api_key' ? (one.key ?? []) : []));
    const settings = this.#list.customised().map((provider) => this.#list.settings(provider) ?? {});
    const names = new Set([...keys, ...settings.flatMap(secretBearingValues)].flatMap(variablesIn));
    const isSet = (name: string) => readVariable(this.#options.env, name) !== undefined;
    return [...names].filter((name) => !sharedVariables.has(name) && isSet(name));
  }

  /** Resolves a model's endpoint. Rejects with a `Refusal` if its key or a header cannot be resolved. */
  async endpoint(model: Model, signal?: AbortSignal): Promise<Omit<Endpoint, 'timeouts'>> {
    const { provider, id } = model;
    const settings = this.#list.settings(provider);
    const signIn = this.signInOf(provider);
    const ownUrl = signIn && signInProvider(provider)?.baseUrl?.(signIn);
    const accountUrl = settings?.baseUrl === undefined ? ownUrl : undefined;
    const baseUrl = accountUrl ?? (this.#list.find(provider, id) ?? model).baseUrl;
    const isCloud = hasOwnAddress(model.api) || cloudAdvice(provider) !== undefined;
    if (!baseUrl && !isCloud && !this.#list.registered.streamOf(model))
      throw notFound(`No address is known for ${provider}/${id}. Give providers.${provider} a baseUrl in models.json.`);
    const options = settings && customOptions(settings, id);
    return {
      baseUrl: withoutTrailingSlash(baseUrl ?? ''),
      ...(options ? { options } : {}),
      ...(isCloud ? { cloud: this.#cloudAccess(provider) } : {}),
      ...(await this.keyAndHeaders(model, signal)),
    };
  }

  /** Resolves the key and headers of a model. Rejects as `endpoint` does. */
  async keyAndHeaders({ provider, id, ...given }: ModelRef, signal?: AbortSignal): Promise<ModelAuth> {
    const { headers } = this.#list.find(provider, id) ?? given;
    const [{ apiKey, headers: ofSignIn }, own] = await Promise.all([
      this.#resolveKey(provider, signal),
      this.#resolveHeaders(provider, id, signal),
    ]);
    const isBearer = this.#list.settings(provider)?.authHeader && apiKey !== undefined;
    return {
      apiKey,
      headers: {
        'user-agent': `tau/${version}`,
        ...stringHeaders(headers ?? {}),
        ...ofSignIn,
        ...own,
        ...(isBearer ? { authorization: `Bearer ${apiKey}` } : {}),
      },
    };
  }

  /**
   * The key that requests of a provider send now. A sign-in with less than `minLifeMs` left is renewed. Rejects with a
   * `Refusal`, or an error that explains itself.
   */
  async currentKey(provider: string, minLifeMs?: number): Promise<string | undefined> {
    const signIn = this.signInOf(provider);
    if (signIn && minLifeMs !== undefined && this.signIns.canRenew(provider, signIn)) {
      const { apiKey } = await this.signIns.auth(provider, signIn, minLifeMs);
      this.refresh();
      return apiKey;
    }
    const { apiKey } = await this.#resolveKey(provider, undefined);
    this.refresh();
    return apiKey;
  }

  async #resolveKey(provider: string, signal: AbortSignal | undefined): Promise<KeyAuth> {
    const found = this.#findKey(provider);
    switch (found?.kind) {
      case 'key':
        return { apiKey: found.key.trim() };
      case 'value': {
        const location = noKeyMessage(provider, found.location);
        return { apiKey: (await this.#resolveValue(found.value, { provider, location, signal })).trim() };
      }
      case 'signIn': {
        const auth = this.#signInAuth(provider, found.credential);
        return signal ? untilAbort(auth, signal) : auth;
      }
      case 'expired':
        throw notFound(this.#expiredMessage(provider));
      case 'ambient':
        return { apiKey: undefined };
      case 'forbidden':
        throw notFound(noKeyMessage(provider, found.reason));
      case undefined:
        if (this.#needsNoKey(provider)) return { apiKey: undefined };
        throw notFound(this.missingKeyMessage(provider));
      default:
        return found satisfies never;
    }
  }

  /** An issuer that cannot be reached is a transient failure. */
  async #signInAuth(provider: string, credential: OAuthCredential): Promise<SignInAuth> {
    try {
      return await this.signIns.auth(provider, credential);
    } catch (error) {
      if (error instanceof RenewalError && !error.isPermanent) throw new ModelFailure('connection_lost', error.message);
      const detail = error instanceof RenewalError ? error.message : `The sign-in cannot be used: ${messageOf(error)}`;
      throw notFound(noKeyMessage(provider, detail));
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
    if (found?.kind === 'forbidden') return found.reason;
    const obstacle = found?.kind === 'value' ? valueProblem(found.value, this.#envFor(provider)) : undefined;
    return obstacle === undefined ? this.#cloudProblem(provider) : `${found?.location}: ${obstacle}`;
  }

  /** The setting that a provider in a cloud lacks besides its credentials, if it has these. */
  #cloudProblem(provider: string): string | undefined {
    const found = this.#findKey(provider);
    const hasAddress = this.#list.settings(provider)?.baseUrl !== undefined;
    return found && cloudProblem(provider, this.#envFor(provider), { hasAddress, hasKey: found.kind !== 'ambient' });
  }

  /** How to make a provider without a key usable. */
  #advice(provider: string): string {
    if (!this.#list.providers().includes(provider)) return unknownProviderAdvice(provider);
    const acceptsKeys = signInProvider(provider)?.acceptsKeys !== false;
    return acceptsKeys ? keyAdvice(provider, this.#path) : `Run: tau login ${provider}`;
  }

  #cloudAccess(provider: string): CloudAccess {
    const credentials = this.#list.settings(provider)?.credentials;
    return { env: this.#envFor(provider), cache: this.#cache, ...(credentials ? { credentials } : {}) };
  }

  #expiredMessage(provider: string): string {
    const cause = `The sign-in for ${provider} has expired, and tau cannot renew it`;
    const remedy = signInProvider(provider) ? `Run: tau login ${provider}` : 'Sign in again with pi';
    return `${cause}. ${remedy}, or put ${keyEntry(provider)} in its place in ${this.#path}.`;
  }

  #findKey(provider: string): FoundKey | undefined {
    const { registered } = this.#list;
    const credential = this.#credential(provider);
    return findKey(provider, {
      runtimeKey: this.#runtimeKeys.get(provider),
      credential,
      env: this.#envFor(provider),
      custom: this.#list.settings(provider),
      customLocation: registered.defines(provider, 'apiKey')
        ? `registerProvider: ${provider}`
        : `models.json: providers.${provider}`,
      canRenew: credential?.type === 'oauth' && this.signIns.canRenew(provider, credential),
      forbidden: registered.signInOf(provider) ? undefined : forbiddenSignIn(provider),
    });
  }

  /** The models that the account of a sign-in may use. */
  #accountModels(provider: string, models: readonly Model[]): readonly Model[] {
    const credential = this.signInOf(provider);
    return credential ? this.signIns.accountModels(provider, models, credential) : models;
  }

  #envFor(provider: string): Environment {
    const credential = this.#credential(provider);
    const { env } = this.#options;
    return credential?.type === 'api_key' && credential.env ? cloudEnvironment(provider, env, credential.env) : env;
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

interface KeyAuth {
  readonly apiKey: string | undefined;
  readonly headers?: SignInAuth['headers'];
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

const cannotBeUsed = (provider: string, problem: string) => `${provider} cannot be used. ${problem}`;

const notFound = (message: string) => new Refusal('model_not_found', message);

const stringHeaders = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );

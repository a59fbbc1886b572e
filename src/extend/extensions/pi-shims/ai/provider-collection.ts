import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { providerKeys } from '../../../../model/keys/provider-keys.ts';
import { catalogue } from '../../../../model/registry/catalogue.ts';
import { messageOf } from '../../../../protocol/errors.ts';
import type { AssistantMessage, Model } from '../../../../protocol/generated/vocabulary.ts';
import { loadOnce } from './api-kinds.ts';
import {
  type Context,
  createApiStreams,
  type ModelAccess,
  type ModelCallOptions,
  type ModelStreams,
  start,
} from './model-calls.ts';
import { normalizeContext } from './transcript.ts';

interface Credential {
  readonly type: 'api_key' | 'oauth';
  readonly key?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

interface AuthContext {
  env(name: string): Promise<string | undefined>;
  fileExists(path: string): Promise<boolean>;
}

interface AuthResult {
  readonly auth: {
    readonly apiKey?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly baseUrl?: string;
  };
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly source?: string;
}

interface ApiKeyAuth {
  readonly name: string;
  login?(interaction: Interaction): Promise<Credential>;
  resolve(input: {
    ctx: AuthContext;
    credential?: Credential | undefined;
    signal: AbortSignal;
  }): Promise<AuthResult | undefined>;
}

interface OAuthAuth {
  readonly name: string;
  login(interaction: Interaction): Promise<Credential>;
  refresh(credential: Credential, signal: AbortSignal): Promise<Credential>;
  toAuth(credential: Credential): Promise<AuthResult['auth']>;
}

interface Interaction {
  readonly signal: AbortSignal;
  prompt(prompt: { type: string; message: string }): Promise<string>;
}

/** A provider object of pi-ai. */
export interface PiProvider extends ModelStreams {
  readonly id: string;
  readonly name: string;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly auth: { readonly apiKey?: ApiKeyAuth; readonly oauth?: OAuthAuth };
  getModels(): readonly Model[];
  getAllModels(): readonly Model[];
  refreshModels?(context: { signal: AbortSignal; [field: string]: unknown }): Promise<void>;
  filterModels?(models: readonly Model[], credential: Credential | undefined): readonly Model[];
}

interface CreateProviderOptions extends Pick<PiProvider, 'id' | 'baseUrl' | 'headers' | 'auth' | 'filterModels'> {
  readonly name?: string;
  readonly models: readonly Model[];
  readonly fetchModels?: (context: object) => Promise<readonly Model[]>;
  /** For all models, or by API kind. */
  readonly api?: ModelStreams | Readonly<Record<string, ModelStreams>>;
}

/** Makes a provider object of its parts. */
export function createProvider({ api, models, fetchModels, name, ...own }: CreateProviderOptions): PiProvider {
  if (!api) throw new Error(`The provider ${own.id} has no api`);
  let fetched: readonly Model[] = [];
  const streamsOf = ({ api: kind }: Model): ModelStreams => {
    const streams = isStreams(api) ? api : api[kind];
    if (!streams) throw new Error(`The provider ${own.id} does not support the API ${kind}`);
    return streams;
  };
  const getModels = () => [...new Map([...models, ...fetched].map((model) => [model.id, model])).values()];
  return {
    ...own,
    name: name ?? own.id,
    getModels,
    getAllModels: getModels,
    ...(fetchModels && {
      refreshModels: async (context) => {
        fetched = await fetchModels(context);
      },
    }),
    stream: (model, ...rest) => start(model, () => streamsOf(model).stream(model, ...rest)),
    streamSimple: (model, ...rest) => start(model, () => streamsOf(model).streamSimple(model, ...rest)),
  };
}

const isStreams = (api: NonNullable<CreateProviderOptions['api']>): api is ModelStreams =>
  typeof (api as ModelStreams).streamSimple === 'function';

/** The key of a provider: the stored one, or the first variable that is set. */
export const envApiKeyAuth = (name: string, variables: readonly string[]): ApiKeyAuth => ({
  name,
  login: async ({ prompt }) => ({ type: 'api_key', key: await prompt({ type: 'secret', message: `Enter ${name}` }) }),
  resolve: async ({ ctx, credential }) => {
    if (credential?.key) return { auth: { apiKey: credential.key }, env: credential.env, source: 'stored credential' };
    for (const variable of variables) {
      const apiKey = await ctx.env(variable);
      if (apiKey) return { auth: { apiKey }, source: variable };
    }
    return undefined;
  },
});

/** A sign-in whose code is loaded by its first use. */
export function lazyOAuth({ load, ...own }: { name: string; load: () => Promise<OAuthAuth> }): OAuthAuth {
  const loaded = loadOnce(load);
  return {
    ...own,
    login: async (interaction) => (await loaded()).login(interaction),
    refresh: async (credential, signal) => (await loaded()).refresh(credential, signal),
    toAuth: async (credential) => (await loaded()).toAuth(credential),
  };
}

/** Variables and files of this process. */
export const defaultProviderAuthContext = (): AuthContext => ({
  env: async (name) => process.env[name],
  fileExists: async (path) => existsSync(path.replace(/^~(?=\/|$)/, homedir())),
});

/** Credentials in memory; changes run one after another, also those of different providers. */
export class InMemoryCredentialStore {
  readonly #credentials = new Map<string, Credential>();
  #last: Promise<unknown> = Promise.resolve();

  read = async (providerId: string): Promise<Credential | undefined> => this.#credentials.get(providerId);

  list = async (): Promise<{ providerId: string; type: Credential['type'] }[]> =>
    [...this.#credentials].map(([providerId, { type }]) => ({ providerId, type }));

  modify = (
    providerId: string,
    change: (current: Credential | undefined) => Promise<Credential | undefined>,
  ): Promise<Credential | undefined> =>
    this.#afterOthers(async () => {
      const changed = await change(this.#credentials.get(providerId));
      if (changed) this.#credentials.set(providerId, changed);
      return changed;
    });

  delete = (providerId: string): Promise<void> =>
    this.#afterOthers(async () => void this.#credentials.delete(providerId));

  #afterOthers<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

interface CreateModelsOptions {
  readonly credentials?: Pick<InMemoryCredentialStore, 'read' | 'modify' | 'delete'>;
  readonly authContext?: AuthContext;
}

/** A collection of provider objects: finds models, resolves credentials and calls. */
export class ModelCollection implements ModelStreams {
  readonly #providers = new Map<string, PiProvider>();
  readonly #credentials: NonNullable<CreateModelsOptions['credentials']>;
  readonly #context: AuthContext;

  constructor({ credentials, authContext }: CreateModelsOptions = {}) {
    this.#credentials = credentials ?? new InMemoryCredentialStore();
    this.#context = authContext ?? defaultProviderAuthContext();
  }

  setProvider(provider: PiProvider): void {
    this.#providers.set(provider.id, provider);
  }

  deleteProvider(id: string): void {
    this.#providers.delete(id);
  }

  clearProviders(): void {
    this.#providers.clear();
  }

  getProviders(): PiProvider[] {
    return [...this.#providers.values()];
  }

  getProvider(id: string): PiProvider | undefined {
    return this.#providers.get(id);
  }

  getModels(provider?: string): Model[] {
    return this.#selected(provider).flatMap(safeModels);
  }

  getAllModels(provider?: string): Model[] {
    return this.getModels(provider);
  }

  getModel(provider: string, id: string): Model | undefined {
    return this.getModels(provider).find((model) => model.id === id);
  }

  /** The models whose provider has a credential. */
  async getAvailable(provider?: string): Promise<Model[]> {
    const found = await Promise.all(this.#selected(provider).map((each) => this.#availableOf(each)));
    return found.flat();
  }

  getAllAvailable(provider?: string): Promise<Model[]> {
    return this.getAvailable(provider);
  }

  /** The credential of a provider; a sign-in that has expired is renewed. Undefined if there is none. */
  async getAuth(target: string | Model): Promise<AuthResult | undefined> {
    const id = typeof target === 'string' ? target : target.provider;
    const { apiKey, oauth } = this.#providers.get(id)?.auth ?? {};
    const credential = await this.#credentials.read(id);
    if (credential?.type !== 'oauth')
      return apiKey?.resolve({ ctx: this.#context, credential, signal: neverAborted() });
    return oauth && { auth: await oauth.toAuth(await this.#renewed(id, oauth, credential)), source: OAUTH };
  }

  async checkAuth(id: string): Promise<{ source?: string | undefined; type: Credential['type'] } | undefined> {
    const result = await this.getAuth(id).catch(() => undefined);
    return result && { source: result.source, type: result.source === OAUTH ? 'oauth' : 'api_key' };
  }

  /** Loads the lists of all providers. Failures are returned, not thrown. */
  async refresh({ providers }: { providers?: readonly string[] } = {}) {
    const errors = new Map<string, Error>();
    const refreshed = this.getProviders().filter(({ id }) => !providers || providers.includes(id));
    const load = async (provider: PiProvider) => {
      try {
        await provider.refreshModels?.({ signal: neverAborted() });
      } catch (error) {
        errors.set(provider.id, new Error(messageOf(error)));
      }
    };
    await Promise.all(refreshed.map(load));
    return { aborted: false, errors };
  }

  async login(id: string, type: Credential['type'], interaction: Pick<Interaction, 'prompt'> & Partial<Interaction>) {
    const { oauth, apiKey } = this.#providers.get(id)?.auth ?? {};
    const auth = type === 'oauth' ? oauth : apiKey;
    if (!auth?.login) throw new Error(`The provider ${id} has no login of the type ${type}`);
    const credential = await auth.login({ ...interaction, signal: interaction.signal ?? neverAborted() });
    await this.#credentials.modify(id, async () => credential);
    return credential;
  }

  logout(id: string): Promise<void> {
    return this.#credentials.delete(id);
  }

  stream(model: Model, context: Context, options?: ModelCallOptions) {
    return start(model, async () => {
      const { provider, ...call } = await this.#prepare(model, options);
      return provider.stream(call.model, normalizeContext(context), call.options);
    });
  }

  streamSimple(model: Model, context: Context, options?: ModelCallOptions) {
    return start(model, async () => {
      const { provider, ...call } = await this.#prepare(model, options);
      return provider.streamSimple(call.model, normalizeContext(context), call.options);
    });
  }

  complete(model: Model, context: Context, options?: ModelCallOptions): Promise<AssistantMessage> {
    return this.stream(model, context, options).result();
  }

  completeSimple(model: Model, context: Context, options?: ModelCallOptions): Promise<AssistantMessage> {
    return this.streamSimple(model, context, options).result();
  }

  /** The provider of a model, with the address, headers and key for a call. */
  async #prepare(model: Model, options: ModelCallOptions = {}) {
    const provider = this.#providers.get(model.provider);
    if (!provider) throw new Error(`Unknown provider: ${model.provider}`);
    const resolved = await this.getAuth(model);
    if (!resolved) throw new Error(`No API key found for ${model.provider}`);
    const { apiKey, headers, baseUrl } = resolved.auth;
    return {
      provider,
      model: { ...model, ...(baseUrl === undefined ? {} : { baseUrl }) },
      options: {
        ...options,
        apiKey: options.apiKey ?? apiKey,
        headers: { ...provider.headers, ...headers, ...options.headers },
      },
    };
  }

  #selected(id: string | undefined): PiProvider[] {
    return this.getProviders().filter((provider) => id === undefined || provider.id === id);
  }

  async #availableOf(provider: PiProvider): Promise<readonly Model[]> {
    if (!(await this.checkAuth(provider.id))) return [];
    const models = safeModels(provider);
    return provider.filterModels?.(models, await this.#credentials.read(provider.id)) ?? models;
  }

  async #renewed(id: string, oauth: OAuthAuth, credential: Credential): Promise<Credential> {
    if (isFresh(credential)) return credential;
    const stored = await this.#credentials.modify(id, async (current = credential) =>
      isFresh(current) ? current : oauth.refresh(current, neverAborted()),
    );
    return stored ?? credential;
  }
}

const OAUTH = 'OAuth';

const isFresh = ({ expires }: Credential) => Number(expires) > Date.now();

const neverAborted = () => new AbortController().signal;

/** A provider whose list fails has no models. */
function safeModels(provider: PiProvider): readonly Model[] {
  try {
    return provider.getModels();
  } catch {
    return [];
  }
}

export const createModels = (options?: CreateModelsOptions): ModelCollection => new ModelCollection(options);

/** Creates pi-ai's functions for the providers of tau's catalogue. */
export function createBuiltinProviders(access: ModelAccess) {
  const builtinProviders = (): PiProvider[] =>
    catalogue.providers().map((id) => {
      const models = catalogue.models(id);
      const kinds = [...new Set(models.map(({ api }) => api))];
      return createProvider({
        id,
        auth: { apiKey: envApiKeyAuth(`${id} API key`, providerKeys[id] ?? []) },
        models,
        api: Object.fromEntries(kinds.map((api) => [api, createApiStreams(api, access)])),
      });
    });
  const builtinModels = (options?: CreateModelsOptions) => {
    const models = new ModelCollection(options);
    for (const provider of builtinProviders()) models.setProvider(provider);
    return models;
  };
  return { builtinProviders, builtinModels };
}

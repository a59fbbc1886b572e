import { type AuthStatus, ModelsView, providerDisplayName } from '../../extend/extensions/api/models-view.ts';
import { RegisteredModels, refuse } from '../../extend/extensions/api/registered-models.ts';
import { createModelCalls } from '../../extend/extensions/pi-shims/ai/model-calls.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { type Credential, readCredentials, removeApiKey } from '../../store/credentials.ts';
import { AuthStorage } from './auth-storage.ts';
import { folderOf, type ModelFiles, openRegistry } from './open-registry.ts';

/** Credentials of the embedding program. */
export interface CredentialStore {
  list(): Promise<readonly { readonly providerId: string }[]>;
  read(providerId: string): Promise<Partial<Credential> | undefined>;
}

export interface CreateModelRuntimeOptions extends ModelFiles {
  /** API keys that come before those of files. */
  readonly credentials?: CredentialStore | undefined;
  readonly signal?: AbortSignal | undefined;
}

type ModelCalls = ReturnType<typeof createModelCalls>;
type ModelOrProvider = string | Pick<Model, 'provider' | 'id'>;

/** The models and keys of a folder under pi's names, with or without an agent. */
export class ModelRuntime extends RegisteredModels {
  /** @internal */
  readonly registry: ModelRegistry;
  readonly #folder: string;
  readonly #view: ModelsView;
  readonly #calls: ModelCalls;
  readonly #credentials: CredentialStore | undefined;

  protected constructor(registry: ModelRegistry, folder: string, credentials?: CredentialStore) {
    super(registry);
    this.registry = registry;
    this.#folder = folder;
    this.#view = new ModelsView(registry, folder);
    this.#calls = createModelCalls({ agentDir: folder, registry });
    this.#credentials = credentials;
  }

  /** Reads the catalogue, models.json and auth.json. Rejects with a `Refusal` for files that tau cannot read. */
  static async create(options: CreateModelRuntimeOptions = {}): Promise<ModelRuntime> {
    options.signal?.throwIfAborted();
    const folder = folderOf(options);
    const runtime = new ModelRuntime(openRegistry(folder), folder, options.credentials);
    await runtime.refresh();
    return runtime;
  }

  /** @internal The models of an agent. */
  static over(registry: ModelRegistry, folder: string): ModelRuntime {
    return new ModelRuntime(registry, folder);
  }

  getProviders() {
    const names = new Set([
      ...this.registry.all().map(({ provider }) => provider),
      ...this.registry.registeredProviders,
    ]);
    return [...names].flatMap((name) => this.getProvider(name) ?? []);
  }

  getProvider(providerId: string) {
    return this.#view.getProvider(providerId);
  }

  getProviderDisplayName(providerId: string): string {
    return providerDisplayName(providerId);
  }

  /** All models, with or without a key. */
  getModels(providerId?: string): Model[] {
    return this.registry.all().filter(({ provider }) => providerId === undefined || provider === providerId);
  }

  getAllModels(providerId?: string): Model[] {
    return this.getModels(providerId);
  }

  getAllAvailable(providerId?: string): Promise<Model[]> {
    return this.getAvailable(providerId);
  }

  getModel(providerId: string, modelId: string): Model | undefined {
    return this.registry.findAny(providerId, modelId);
  }

  async getAvailable(providerId?: string): Promise<Model[]> {
    await this.registry.load({ anyway: true });
    return this.getAvailableSnapshot().filter(({ provider }) => providerId === undefined || provider === providerId);
  }

  /** The models with a key, without reading files. */
  getAvailableSnapshot(): Model[] {
    return [...this.registry.available()];
  }

  getError(): string | undefined {
    return this.#view.getError();
  }

  isUsingOAuth(providerId: string): boolean {
    return this.#view.isUsingOAuth({ provider: providerId });
  }

  isUsingSubscription(providerId: string): boolean {
    return this.isUsingOAuth(providerId);
  }

  hasConfiguredAuth(providerId: string): boolean {
    return this.registry.hasKey(providerId);
  }

  getProviderAuthStatus(providerId: string): AuthStatus {
    return this.#view.getProviderAuthStatus(providerId);
  }

  async checkAuth(providerId: string): Promise<{ type: 'api_key' | 'oauth'; source?: string } | undefined> {
    const source = this.registry.auth?.keySource(providerId);
    return source && { type: source.kind === 'signIn' ? 'oauth' : 'api_key', source: source.location };
  }

  /** The key and headers of a model or provider; undefined if it has none. */
  async getAuth(modelOrProvider: ModelOrProvider) {
    const [model] = typeof modelOrProvider === 'string' ? this.getModels(modelOrProvider) : [modelOrProvider];
    return model && this.#view.authOf(model);
  }

  /** Uses a key for this process only. */
  async setRuntimeApiKey(providerId: string, apiKey: string): Promise<void> {
    await this.registry.load({ anyway: true });
    this.registry.auth?.setRuntimeKey({ provider: providerId, key: apiKey });
  }

  async removeRuntimeApiKey(providerId: string): Promise<void> {
    this.registry.auth?.removeRuntimeKey(providerId);
  }

  async listCredentials(): Promise<{ providerId: string; type: 'api_key' | 'oauth' }[]> {
    const stored = [...readCredentials(this.#folder).credentials];
    return stored.map(([providerId, { type }]) => ({ providerId, type }));
  }

  async login(providerId: string): Promise<never> {
    return refuse('ModelRuntime.login', `sign in to ${providerId} with tau login`);
  }

  /** Removes the stored key of a provider. */
  async logout(providerId: string): Promise<void> {
    await removeApiKey(this.#folder, providerId);
    await this.registry.load({ anyway: true });
  }

  /** Reads changed files and the credentials of the program. */
  async refresh(_options?: object): Promise<{ errors: Map<string, Error> }> {
    await this.registry.load({ anyway: true });
    for (const { providerId: provider } of (await this.#credentials?.list()) ?? []) {
      const credential = await this.#credentials?.read(provider);
      if (credential?.type === 'api_key' && credential.key) {
        this.registry.auth?.setRuntimeKey({ provider, key: credential.key });
      }
    }
    return { errors: new Map() };
  }

  registerProvider(providerId: string, config: object): void {
    this.registry.register(providerId, config);
  }

  registerNativeProvider(): never {
    return refuse('registerNativeProvider', 'use registerProvider(name, config)');
  }

  resolveModel(): never {
    return refuse('resolveModel', 'the agent routes the requests of virtual models');
  }

  unregisterProvider(providerId: string): void {
    this.registry.unregister(providerId);
  }

  getRegisteredProviderIds(): readonly string[] {
    return this.registry.registeredProviders;
  }

  stream(...args: Parameters<ModelCalls['stream']>) {
    return this.#calls.stream(...args);
  }

  streamSimple(...args: Parameters<ModelCalls['stream']>) {
    return this.#calls.stream(...args);
  }

  complete(...args: Parameters<ModelCalls['complete']>) {
    return this.#calls.complete(...args);
  }

  completeSimple(...args: Parameters<ModelCalls['complete']>) {
    return this.#calls.complete(...args);
  }
}

/** The models under the names of pi's `ModelRegistry`. */
export class PiModelRegistry extends ModelsView {
  constructor(source: ModelRuntime | AuthStorage, modelsPath?: string) {
    super(
      registryFrom(source, modelsPath),
      source instanceof AuthStorage ? folderFor(source, modelsPath) : agentDir(process.env),
    );
  }

  static create(authStorage: AuthStorage, modelsPath?: string): PiModelRegistry {
    return new PiModelRegistry(authStorage, modelsPath);
  }

  static inMemory(authStorage: AuthStorage): PiModelRegistry {
    return new PiModelRegistry(authStorage);
  }
}

const folderFor = ({ folder }: AuthStorage, modelsPath: string | undefined): string =>
  folder ?? folderOf({ modelsPath });

function registryFrom(source: ModelRuntime | AuthStorage, modelsPath: string | undefined): ModelRegistry {
  if (source instanceof ModelRuntime) return source.registry;
  const registry = openRegistry(folderFor(source, modelsPath));
  source.applyTo(registry);
  return registry;
}

/** The models that an agent shares with the given registry or runtime. Throws a `Refusal` for those of another program. */
export function sharedRegistry(given: { modelRegistry?: unknown; modelRuntime?: unknown }): ModelRegistry | undefined {
  for (const [name, object] of Object.entries({
    modelRuntime: given.modelRuntime,
    modelRegistry: given.modelRegistry,
  })) {
    if (object === undefined) continue;
    const registry = object instanceof ModelRuntime ? object.registry : ModelsView.registryOf(object);
    if (!registry) throw new Refusal('not_supported', `${name} must be one of tau's own: ModelRuntime.create()`);
    return registry.share();
  }
  return undefined;
}

import { basename, dirname, resolve } from 'node:path';
import { type FoundKey, findKey } from '../../model/keys/key-lookup.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import { Refusal } from '../../protocol/errors.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { type Credential, readCredentials, removeApiKey, storeApiKey } from '../../store/credentials.ts';
import { openRegistry } from './open-registry.ts';

/**
 * The keys of `auth.json`, or keys in memory, under the names of older versions of pi. Keys set for the process come
 * first.
 */
export class AuthStorage {
  /** @internal Undefined: nothing is read from a file. */
  readonly folder: string | undefined;
  readonly #memory: Map<string, Credential>;
  readonly #runtimeKeys = new Map<string, string>();
  #fallback: ((provider: string) => string | undefined) | undefined;

  private constructor(folder: string | undefined, memory: Map<string, Credential>) {
    this.folder = folder;
    this.#memory = memory;
  }

  static create(path?: string): AuthStorage {
    if (path !== undefined && basename(path) !== 'auth.json')
      throw new Refusal('not_supported', `${path} must have the name auth.json`);
    return new AuthStorage(path === undefined ? agentDir(process.env) : dirname(resolve(path)), new Map());
  }

  static inMemory(credentials: Readonly<Record<string, Credential>> = {}): AuthStorage {
    return new AuthStorage(undefined, new Map(Object.entries(credentials)));
  }

  setRuntimeApiKey(provider: string, apiKey: string): void {
    this.#runtimeKeys.set(provider, apiKey);
  }

  removeRuntimeApiKey(provider: string): void {
    this.#runtimeKeys.delete(provider);
  }

  /** The last resort for providers without a key. */
  setFallbackResolver(resolver: (provider: string) => string | undefined): void {
    this.#fallback = resolver;
  }

  get(provider: string): Credential | undefined {
    return this.#credentials().get(provider);
  }

  getAll(): Record<string, Credential> {
    return Object.fromEntries(this.#credentials());
  }

  list(): string[] {
    return [...this.#credentials().keys()];
  }

  has(provider: string): boolean {
    return this.#credentials().has(provider);
  }

  hasAuth(provider: string): boolean {
    if (this.#runtimeKeys.has(provider)) return true;
    const { folder } = this;
    const hasKey =
      folder === undefined ? this.#findOwnKey(provider) !== undefined : this.#registry(folder).hasKey(provider);
    return hasKey || this.#fallback?.(provider) !== undefined;
  }

  /** Stores an API key. Sign-ins are stored by `tau login`. */
  async set(provider: string, credential: Credential): Promise<void> {
    if (credential.type !== 'api_key') throw new Refusal('not_supported', `Sign in to ${provider} with tau login`);
    const { key } = credential;
    if (key === undefined) throw new Refusal('invalid_params', `The credential of ${provider} has no key`);
    if (this.folder === undefined) this.#memory.set(provider, credential);
    else await storeApiKey(this.folder, { provider, key });
  }

  async remove(provider: string): Promise<void> {
    if (this.folder === undefined) this.#memory.delete(provider);
    else if (this.has(provider)) await removeApiKey(this.folder, provider);
  }

  logout(provider: string): Promise<void> {
    return this.remove(provider);
  }

  async login(provider: string): Promise<never> {
    throw new Refusal(
      'not_supported',
      `AuthStorage.login is not available in tau: sign in to ${provider} with tau login`,
    );
  }

  /** Does nothing: each call reads the file. */
  reload(): void {}

  async getApiKey(provider: string): Promise<string | undefined> {
    const runtimeKey = this.#runtimeKeys.get(provider);
    if (runtimeKey !== undefined) return runtimeKey;
    if (this.folder === undefined) {
      const found = this.#findOwnKey(provider);
      return found?.kind === 'key' ? found.key.trim() : this.#fallback?.(provider);
    }
    const registry = this.#registry(this.folder);
    const model = registry.all().find((candidate) => candidate.provider === provider) ?? { provider, id: '' };
    const auth = await registry.keyAndHeaders(model).catch(() => undefined);
    return auth?.apiKey ?? this.#fallback?.(provider);
  }

  /** @internal Gives a registry the keys that no file holds. */
  applyTo(registry: ModelRegistry): void {
    for (const [provider, key] of this.#keys()) registry.auth?.setRuntimeKey({ provider, key });
  }

  #registry(folder: string): ModelRegistry {
    const registry = openRegistry(folder);
    this.applyTo(registry);
    return registry;
  }

  /** The key of a provider in this object or in the environment: no file of the user is read. */
  #findOwnKey(provider: string): FoundKey | undefined {
    const runtimeKey = new Map(this.#keys()).get(provider);
    const none = { credential: undefined, custom: undefined, customLocation: '', canRenew: false };
    return findKey(provider, { ...none, runtimeKey, env: process.env });
  }

  *#keys(): Generator<[provider: string, key: string]> {
    for (const [provider, credential] of this.#memory) {
      const key = credential.type === 'api_key' ? credential.key : credential.access;
      if (key !== undefined) yield [provider, key];
    }
    yield* this.#runtimeKeys;
  }

  #credentials(): ReadonlyMap<string, Credential> {
    return this.folder === undefined ? this.#memory : readCredentials(this.folder).credentials;
  }
}

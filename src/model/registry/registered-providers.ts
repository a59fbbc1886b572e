import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { type CustomProvider, providerProblem } from '../../store/models-file.ts';
import type { ProviderConfig, SignIn, StreamSimple } from './provider-config.ts';

interface RegisteredProvider {
  // The fields that a file could hold.
  readonly fileConfig: CustomProvider;
  readonly streamSimple: StreamSimple | undefined;
  readonly oauth: SignIn | undefined;
  readonly providerObject: object | undefined;
}

const fileFields = [
  'baseUrl',
  'apiKey',
  'api',
  'headers',
  'authHeader',
  'credentials',
  'compat',
  'models',
  'modelOverrides',
] as const;

/** The providers that extensions have registered. They override those of files. */
export class RegisteredProviders {
  readonly #providers = new Map<string, RegisteredProvider>();

  /** Adds or changes a provider; omitted fields keep their values. Throws a `Refusal`. */
  register(name: string, config: ProviderConfig): void {
    if (typeof name !== 'string' || name === '') throw invalidProvider('a provider needs a name');
    if (!isObject(config as unknown)) throw invalidProvider(`${name} must be an object`);
    const before = this.#providers.get(name);
    const registered: RegisteredProvider = {
      fileConfig: { ...before?.fileConfig, ...toFileConfig(name, config) },
      streamSimple: config.streamSimple ?? before?.streamSimple,
      oauth: config.oauth ?? before?.oauth,
      providerObject: config.providerObject ?? before?.providerObject,
    };
    const problem = problemOf(name, registered);
    if (problem !== undefined) throw invalidProvider(problem);
    this.#providers.set(name, registered);
  }

  unregister(name: string): void {
    this.#providers.delete(name);
  }

  get names(): readonly string[] {
    return [...this.#providers.keys()];
  }

  /** The config of a registered provider. */
  configOf(name: string): ProviderConfig | undefined {
    const registered = this.#providers.get(name);
    if (!registered) return undefined;
    const { fileConfig, ...code } = registered;
    const given = Object.entries(code).filter(([, value]) => value !== undefined);
    return { ...structuredClone(fileConfig), ...Object.fromEntries(given) };
  }

  /** Whether the provider's models are only the registered ones. */
  hasModels(provider: string): boolean {
    return (this.#providers.get(provider)?.fileConfig.models ?? []).length > 0;
  }

  /** The registered settings of a provider, merged over those of the file. */
  mergedWith(provider: string, file: CustomProvider | undefined): CustomProvider | undefined {
    const fileConfig = this.#providers.get(provider)?.fileConfig;
    if (!fileConfig) return file;
    const { models = [], api, ...rest } = fileConfig;
    const both = { ...file, ...rest, headers: { ...file?.headers, ...rest.headers } };
    if (models.length > 0) return { ...both, ...(api === undefined ? {} : { api }), models };
    const { baseUrl } = rest;
    if (baseUrl === undefined || !file?.models) return both;
    return { ...both, models: file.models.map((model) => ({ ...model, baseUrl })) };
  }

  /** Whether a field of a provider was registered. */
  defines(provider: string, field: 'apiKey' | 'headers'): boolean {
    return this.#providers.get(provider)?.fileConfig[field] !== undefined;
  }

  /** The stream function for a model whose API kind its provider defines. */
  streamOf({ provider, api }: Pick<Model, 'provider' | 'api'>): StreamSimple | undefined {
    const { fileConfig, streamSimple } = this.#providers.get(provider) ?? {};
    return fileConfig?.api === api ? streamSimple : undefined;
  }

  signInOf(provider: string): SignIn | undefined {
    return this.#providers.get(provider)?.oauth;
  }
}

function toFileConfig(name: string, config: ProviderConfig): JsonObject {
  const given = Object.fromEntries(fileFields.map((field) => [field, config[field]]));
  try {
    const fileConfig: JsonObject = JSON.parse(JSON.stringify(given));
    const { models } = fileConfig;
    return Array.isArray(models) ? { ...fileConfig, models: models.filter(isChatModel) } : fileConfig;
  } catch (error) {
    throw invalidProvider(`${name}: ${messageOf(error)}`);
  }
}

// Providers may list models for other purposes.
const isChatModel = (model: unknown) => !isObject(model) || model['type'] === undefined || model['type'] === 'chat';

function problemOf(name: string, { fileConfig, streamSimple, oauth }: RegisteredProvider): string | undefined {
  if (name === 'tau') return 'tau is the provider of the built-in models';
  const { api } = fileConfig;
  if (streamSimple !== undefined && typeof streamSimple !== 'function')
    return `${name}.streamSimple must be a function`;
  if (streamSimple && api === undefined) return `${name}.api is required for streamSimple`;
  if (oauth !== undefined && !isObject(oauth)) return `${name}.oauth must be an object`;
  const missing = oauth && (['getApiKey', 'refreshToken'] as const).find((call) => typeof oauth[call] !== 'function');
  if (missing) return `${name}.oauth.${missing} must be a function`;
  return providerProblem([name], fileConfig, streamSimple || oauth ? { api: streamSimple && api } : undefined);
}

const invalidProvider = (problem: string) =>
  new Refusal('invalid_params', `The provider cannot be registered: ${problem}`);

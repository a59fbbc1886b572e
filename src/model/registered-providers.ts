import { messageOf, Refusal } from '../protocol/errors.ts';
import type { Model } from '../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../store/json-file.ts';
import { type CustomProvider, providerProblem } from '../store/models-file.ts';
import type { ProviderConfig, SignIn, StreamSimple } from './provider-config.ts';

/** A provider that is there as long as somebody wants it. */
interface Registered {
  /** As it would stand in a file. */
  readonly written: CustomProvider;
  readonly streamSimple: StreamSimple | undefined;
  readonly oauth: SignIn | undefined;
}

/** What of a description could stand in a file. */
const fields = ['baseUrl', 'apiKey', 'api', 'headers', 'authHeader', 'compat', 'models', 'modelOverrides'] as const;

/** The providers that extensions have registered. They win over those of files. */
export class RegisteredProviders {
  readonly #providers = new Map<string, Registered>();

  /** Adds or changes one. What an earlier description said, and this one does not, stays. Throws a `Refusal`. */
  register(name: string, config: ProviderConfig): void {
    if (typeof name !== 'string' || name === '') throw refused('a provider needs a name');
    if (!isObject(config as unknown)) throw refused(`${name} must be an object`);
    const before = this.#providers.get(name);
    const registered: Registered = {
      written: { ...before?.written, ...asWritten(name, config) },
      streamSimple: config.streamSimple ?? before?.streamSimple,
      oauth: config.oauth ?? before?.oauth,
    };
    const problem = problemOf(name, registered);
    if (problem !== undefined) throw refused(problem);
    this.#providers.set(name, registered);
  }

  unregister(name: string): void {
    this.#providers.delete(name);
  }

  get names(): readonly string[] {
    return [...this.#providers.keys()];
  }

  /** Whether the models of this provider are those that were registered, and no others. */
  hasModels(provider: string): boolean {
    return (this.#providers.get(provider)?.written.models ?? []).length > 0;
  }

  /** What there is to say of a provider, where a file says this of it. */
  over(provider: string, file: CustomProvider | undefined): CustomProvider | undefined {
    const written = this.#providers.get(provider)?.written;
    if (!written) return file;
    const { models = [], api, ...rest } = written;
    const both = { ...file, ...rest, headers: { ...file?.headers, ...rest.headers } };
    if (models.length > 0) return { ...both, ...(api === undefined ? {} : { api }), models };
    const { baseUrl } = rest;
    if (baseUrl === undefined || !file?.models) return both;
    return { ...both, models: file.models.map((model) => ({ ...model, baseUrl })) };
  }

  /** Whether a value of a provider is one that was registered. */
  says(provider: string, field: 'apiKey' | 'headers'): boolean {
    return this.#providers.get(provider)?.written[field] !== undefined;
  }

  /** Who speaks to a model, where its API kind is of its provider's own making. */
  streamOf({ provider, api }: Pick<Model, 'provider' | 'api'>): StreamSimple | undefined {
    const { written, streamSimple } = this.#providers.get(provider) ?? {};
    return written?.api === api ? streamSimple : undefined;
  }

  signInOf(provider: string): SignIn | undefined {
    return this.#providers.get(provider)?.oauth;
  }
}

function asWritten(name: string, config: ProviderConfig): JsonObject {
  const given = Object.fromEntries(fields.map((field) => [field, config[field]]));
  try {
    const written: JsonObject = JSON.parse(JSON.stringify(given));
    const { models } = written;
    return Array.isArray(models) ? { ...written, models: models.filter(isChat) } : written;
  } catch (error) {
    throw refused(`${name}: ${messageOf(error)}`);
  }
}

/** Models for other purposes than to speak with may stand among the others. */
const isChat = (model: unknown) => !isObject(model) || model['type'] === undefined || model['type'] === 'chat';

function problemOf(name: string, { written, streamSimple, oauth }: Registered): string | undefined {
  if (name === 'tau') return 'tau is the provider of the built-in models';
  const { api } = written;
  if (streamSimple !== undefined && typeof streamSimple !== 'function')
    return `${name}.streamSimple must be a function`;
  if (streamSimple && api === undefined) return `${name}.api is required for streamSimple`;
  if (oauth !== undefined && !isObject(oauth)) return `${name}.oauth must be an object`;
  const missing = oauth && (['getApiKey', 'refreshToken'] as const).find((call) => typeof oauth[call] !== 'function');
  if (missing) return `${name}.oauth.${missing} must be a function`;
  return providerProblem([name], written, streamSimple || oauth ? { api: streamSimple && api } : undefined);
}

const refused = (problem: string) => new Refusal('invalid_params', `The provider cannot be registered: ${problem}`);

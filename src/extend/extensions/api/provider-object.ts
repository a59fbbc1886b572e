import { existsSync } from 'node:fs';
import type { ProviderConfig, StreamSimple } from '../../../model/registry/provider-config.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { isObject } from '../../../protocol/json.ts';
import { expandHome } from '../../../store/agent-dir.ts';
import { plainCopy } from '../hooks/validate-results.ts';

// The API kind of models whose provider object calls them.
const OBJECT_API = 'pi-provider';

// Stands for the key of a provider object that finds its key itself.
const OWN_KEY = 'own-key-of-the-provider';

interface Credential {
  readonly type: string;
  readonly key?: string;
}

// The key that a provider object has found.
interface FoundKey {
  readonly auth?: { readonly apiKey?: string; readonly headers?: Record<string, string> };
  readonly env?: object;
}

/** A provider object of pi-ai, as far as tau uses it. */
export interface ProviderObject {
  readonly id: string;
  readonly name?: string;
  readonly baseUrl?: string;
  readonly auth?: {
    readonly apiKey?: {
      resolve(input: {
        ctx: object;
        credential?: Credential | undefined;
        signal: AbortSignal;
      }): Promise<FoundKey | undefined>;
    };
  };
  getModels(): readonly Model[];
  refreshModels?(context: object): Promise<void>;
  streamSimple: (model: Model, context: object, options: object) => unknown;
}

/** The context of a refresh of models. */
interface RefreshContext {
  readonly credential?: Credential | undefined;
  readonly signal: AbortSignal;
}

/** The config of a provider object. Its models are listed once it has found a key. Throws if it is no provider. */
export function providerConfigOf(provider: ProviderObject): ProviderConfig & {
  refreshModels: (context: RefreshContext) => Promise<unknown>;
} {
  checkProvider(provider);
  const findKey = async (credential: Credential | undefined, signal: AbortSignal): Promise<FoundKey | undefined> => {
    const known = credential?.key === OWN_KEY ? undefined : credential;
    const { apiKey } = provider.auth ?? {};
    if (apiKey) return apiKey.resolve({ ctx: authContext, credential: known, signal });
    return known?.key === undefined ? undefined : { auth: { apiKey: known.key } };
  };
  const streamSimple: StreamSimple = async (model, context, { apiKey, ...options }) => {
    const found = await findKey(apiKey === undefined ? undefined : { type: 'api_key', key: apiKey }, options.signal);
    if (!found) throw new Error(`No API key found for ${provider.id}`);
    const { auth = {}, env } = found;
    return provider.streamSimple(provider.getModels().find(({ id }) => id === model.id) ?? model, context, {
      ...options,
      ...(auth.apiKey === undefined ? {} : { apiKey: auth.apiKey }),
      headers: { ...auth.headers, ...options.headers },
      ...(env ? { env } : {}),
    });
  };
  return {
    ...(provider.name === undefined ? {} : { name: String(provider.name) }),
    baseUrl: provider.baseUrl ?? 'http://localhost',
    apiKey: OWN_KEY,
    api: OBJECT_API,
    models: [],
    streamSimple,
    providerObject: provider,
    refreshModels: async (context) => {
      const found = await findKey(context.credential, context.signal);
      if (!found) return [];
      const credential = { type: 'api_key', key: found.auth?.apiKey };
      await provider.refreshModels?.({ ...context, credential });
      return provider.getModels().map((model) => ({ ...plainCopy(model), api: OBJECT_API, baseUrl: undefined }));
    },
  };
}

function checkProvider(provider: ProviderObject): void {
  const { id, getModels, streamSimple } = provider;
  if (typeof id !== 'string' || id === '') throw new TypeError('A provider object needs an id');
  if (typeof getModels !== 'function' || typeof streamSimple !== 'function')
    throw new TypeError(`The provider object ${id} needs getModels and streamSimple`);
}

/** Whether an argument of `registerProvider` is a provider object. */
export const isProviderObject = (value: unknown): value is ProviderObject => isObject(value) && 'getModels' in value;

// Variables and files of this process.
const authContext = {
  env: async (name: string) => process.env[name],
  fileExists: async (path: string) => existsSync(expandHome(path)),
};

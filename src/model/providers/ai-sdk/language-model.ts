import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import type { Model, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { Endpoint } from '../../endpoint.ts';
import { ModelFailure } from '../../request.ts';
import { packageSettings } from './package-settings.ts';

// The published types of version 4 require a later Node: these are its differences from version 3 that tau uses.
interface LanguageModelV4 {
  readonly specificationVersion: 'v4';
  doStream(options: SdkCallOptions): PromiseLike<{ stream: ReadableStream<SdkStreamPart> }>;
}

/** A file in a prompt: version 4 tags its content. */
export type SdkFileData = string | { readonly type: 'data'; readonly data: string };

type FinishV3 = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;
type FinishV4 = Omit<FinishV3, 'finishReason'> & {
  readonly finishReason: { readonly unified: 'interrupted'; readonly raw: string | undefined };
};

/** A model of the AI SDK, in a version that tau supports. */
export type SdkModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;
export type SdkVersion = SdkModel['specificationVersion'];
export type SdkStreamPart = LanguageModelV2StreamPart | LanguageModelV3StreamPart | FinishV4;
export type SdkCallOptions = LanguageModelV2CallOptions &
  LanguageModelV3CallOptions & {
    /** How much a model of version 4 thinks. */
    readonly reasoning?: 'none' | Exclude<ThinkingLevel, 'off'>;
  };
export type ProviderOptions = NonNullable<SdkCallOptions['providerOptions']>;

const versions: readonly unknown[] = ['v2', 'v3', 'v4'] satisfies SdkVersion[];

interface SdkModelOptions {
  readonly packageName: string;
  readonly exported: object;
  readonly endpoint: Endpoint;
  readonly model: Model;
  readonly fetch: typeof fetch;
}

/** Creates the model with this id from a package. */
export async function languageModel({ packageName, exported, ...options }: SdkModelOptions): Promise<SdkModel> {
  const { model } = options;
  const provider = createProvider(packageName, exported, settingsFor(packageName, options));
  const found: unknown = await modelFrom(provider, model.id);
  const { doStream, specificationVersion } = recordOf(found);
  if (typeof doStream !== 'function') {
    throw new ModelFailure('model_error', `The package ${packageName} has no language models for the AI SDK`);
  }
  if (!versions.includes(specificationVersion)) {
    const supported = 'tau supports v2, v3 and v4';
    throw new ModelFailure(
      'model_error',
      `The models of ${packageName} are of version ${specificationVersion}; ${supported}`,
    );
  }
  return found as SdkModel;
}

// Packages ignore settings that they do not support.
const settingsFor = (
  packageName: string,
  { endpoint, model, fetch }: Omit<SdkModelOptions, 'packageName' | 'exported'>,
) => ({
  name: model.provider,
  ...(endpoint.apiKey === undefined ? {} : { apiKey: endpoint.apiKey }),
  ...(endpoint.baseUrl === '' ? {} : { baseURL: endpoint.baseUrl }),
  headers: endpoint.headers,
  // Without it, OpenAI-compatible servers do not report usage.
  includeUsage: true,
  fetch,
  ...packageSettings(packageName, endpoint),
  ...endpoint.options,
});

type Callable = (argument: unknown) => unknown;

const isCallable = (value: unknown): value is Callable => typeof value === 'function';
const hasModels = (value: unknown): value is { readonly languageModel: Callable } =>
  isCallable(recordOf(value)['languageModel']);

function modelFrom(provider: unknown, id: string): unknown {
  if (hasModels(provider)) return provider.languageModel(id);
  return isCallable(provider) ? provider(id) : undefined;
}

// Uses the package's factory, or else the provider that it exports.
function createProvider(packageName: string, exported: object, settings: object): unknown {
  const { default: main } = recordOf(exported);
  // A CommonJS package may have all its exports there.
  const all = { ...recordOf(main), ...exported };
  const factory = findFactory(packageName, Object.entries(all));
  if (factory) return factory(settings);
  return [main, ...Object.values(all)].find(hasModels) ?? main;
}

// Of several factories, the one whose name is in the package name.
function findFactory(packageName: string, exported: readonly (readonly [string, unknown])[]): Callable | undefined {
  const factories = exported.flatMap(([name, value]) =>
    /^create[A-Z]/.test(name) && isCallable(value) ? [{ noun: name.slice(6).toLowerCase(), value }] : [],
  );
  const plain = packageName.toLowerCase().replaceAll(/[^a-z\d]/g, '');
  const [named] = factories
    .filter(({ noun }) => plain.includes(noun))
    .toSorted((one, other) => other.noun.length - one.noun.length);
  return (named ?? factories[0])?.value;
}

/** The properties of an object or function; none for other values. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? (value as Record<string, unknown>)
    : {};

import type { AssistantMessageEvent, Model } from '../../../../protocol/generated/vocabulary.ts';
import { createApiStreams, type ModelAccess, type ModelStreams, start } from './model-calls.ts';

// The functions of pi-ai for each API kind: the factory, and the older pair of streams (`streamX`, `streamSimpleX`).
const apiKinds: readonly { readonly api: string; readonly factory: string; readonly older?: string }[] = [
  { api: 'anthropic-messages', factory: 'anthropicMessagesApi', older: 'Anthropic' },
  { api: 'azure-openai-responses', factory: 'azureOpenAIResponsesApi', older: 'AzureOpenAIResponses' },
  { api: 'bedrock-converse-stream', factory: 'bedrockConverseStreamApi' },
  { api: 'google-generative-ai', factory: 'googleGenerativeAIApi', older: 'Google' },
  { api: 'google-vertex', factory: 'googleVertexApi', older: 'GoogleVertex' },
  { api: 'mistral-conversations', factory: 'mistralConversationsApi', older: 'Mistral' },
  { api: 'openai-codex-responses', factory: 'openAICodexResponsesApi', older: 'OpenAICodexResponses' },
  { api: 'openai-completions', factory: 'openAICompletionsApi', older: 'OpenAICompletions' },
  { api: 'openai-responses', factory: 'openAIResponsesApi', older: 'OpenAIResponses' },
];

interface ApiProvider extends ModelStreams {
  readonly api: string;
}

/** Creates pi-ai's functions for API kinds, and a registry of those that extensions implement themselves. */
export function createApiKinds(access: ModelAccess) {
  const registered = new Map<string, { readonly provider: ApiProvider; readonly sourceId: string | undefined }>();
  const builtin = (api: string): ApiProvider => ({ api, ...createApiStreams(api, access) });
  const getApiProvider = (api: string): ApiProvider | undefined =>
    registered.get(api)?.provider ?? (apiKinds.some((kind) => kind.api === api) ? builtin(api) : undefined);
  return {
    ...Object.fromEntries(apiKinds.flatMap((kind) => functionsOf(kind, access))),
    registerApiProvider(provider: ApiProvider, sourceId?: string): void {
      registered.set(provider.api, { provider, sourceId });
    },
    unregisterApiProviders(sourceId: string): void {
      for (const [api, { sourceId: source }] of registered) if (source === sourceId) registered.delete(api);
    },
    resetApiProviders: (): void => registered.clear(),
    registerBuiltInApiProviders: (): void => undefined,
    /** Only those that extensions implement. */
    ownApi: (api: string): ModelStreams | undefined => registered.get(api)?.provider,
    getApiProvider,
    getApiProviders: (): ApiProvider[] =>
      [...new Set([...apiKinds.map(({ api }) => api), ...registered.keys()])].flatMap(
        (api) => getApiProvider(api) ?? [],
      ),
  };
}

function functionsOf({ api, factory, older }: (typeof apiKinds)[number], access: ModelAccess): [string, unknown][] {
  const streams = createApiStreams(api, access);
  const both: [string, unknown][] = older
    ? [
        [`stream${older}`, streams.stream],
        [`streamSimple${older}`, streams.streamSimple],
      ]
    : [];
  return [[factory, () => streams], ...both];
}

interface StreamObserver {
  onEvent?(event: AssistantMessageEvent): void;
  onResult?(result: unknown): void;
}

/** Returns a stream at once, although its source is opened asynchronously. */
export function lazyStream(
  model: Model,
  setup: () => Promise<AsyncIterable<AssistantMessageEvent>>,
  observer: StreamObserver = {},
) {
  return start(model, async function* () {
    for await (const event of await setup()) {
      observer.onEvent?.(event);
      if (event.type === 'done') observer.onResult?.(event.message);
      if (event.type === 'error') observer.onResult?.(event.error);
      yield event;
    }
  });
}

/** Loads by the first call, for all callers; again by the next call after a failure. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= Promise.resolve()
      .then(load)
      .catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
    return loading;
  };
}

/** The streams of an API kind whose code is loaded by its first call. */
export function lazyApi(load: () => Promise<ModelStreams>): ModelStreams {
  const loaded = loadOnce(load);
  return {
    stream: (model, ...rest) => lazyStream(model, async () => (await loaded()).stream(model, ...rest)),
    streamSimple: (model, ...rest) => lazyStream(model, async () => (await loaded()).streamSimple(model, ...rest)),
  };
}

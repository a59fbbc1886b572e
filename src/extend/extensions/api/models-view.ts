import type { ModelRegistry } from '../../../model/registry/registry.ts';
import { messageOf, Refusal } from '../../../protocol/errors.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { createModelCalls } from '../pi-shims/ai/model-calls.ts';
import { RegisteredModels } from './registered-models.ts';

type ModelCalls = ReturnType<typeof createModelCalls>;

/** Whether and where a provider has a key. */
export interface AuthStatus {
  readonly configured: boolean;
  readonly source?: 'stored' | 'runtime' | 'environment' | undefined;
  /** For users. */
  readonly label?: string | undefined;
}

// Names whose spelling does not follow from the id.
const DISPLAY_NAMES: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'Amazon Bedrock',
  'azure-openai-responses': 'Azure OpenAI',
  'github-copilot': 'GitHub Copilot',
  'google-vertex': 'Google Vertex AI',
  'openai-codex': 'OpenAI Codex',
  deepseek: 'DeepSeek',
  huggingface: 'Hugging Face',
  minimax: 'MiniMax',
  openai: 'OpenAI',
  opencode: 'OpenCode',
  openrouter: 'OpenRouter',
  xai: 'xAI',
  zai: 'Z.ai',
};

/** The name of a provider for users. */
export const providerDisplayName = (id: string): string =>
  DISPLAY_NAMES[id] ?? id.replaceAll(/(^|-)(\w)/g, (_, dash, letter) => `${dash && ' '}${letter.toUpperCase()}`);

/** The models in pi's shape: `ctx.modelRegistry`. */
export class ModelsView extends RegisteredModels {
  readonly #registry: ModelRegistry;
  readonly #calls: ModelCalls;

  constructor(registry: ModelRegistry, agentDir: string) {
    super(registry);
    this.#registry = registry;
    this.#calls = createModelCalls({ agentDir, registry });
  }

  /** The registry behind a view; undefined for any other object. */
  static registryOf(view: unknown): ModelRegistry | undefined {
    return typeof view === 'object' && view !== null && #registry in view ? view.#registry : undefined;
  }

  /** Every known model, with or without a key. */
  getAll = (): Model[] => [...this.#registry.all()];
  getAvailable = (): Model[] => [...this.#registry.available()];
  /** Finds a model whether or not it has an API key. */
  find = (provider: string, modelId: string): Model | undefined => this.#registry.findAny(provider, modelId);
  findOfType = this.getModelOfType;
  hasConfiguredAuth = ({ provider }: Pick<Model, 'provider'>): boolean => this.#registry.hasKey(provider);
  /** Whether the key of the model comes from a stored sign-in. */
  isUsingOAuth = (model?: Pick<Model, 'provider'>): boolean =>
    this.#registry.auth?.keySource(model?.provider ?? '')?.kind === 'signIn';
  getError = (): string | undefined => this.#registry.problems.join('\n') || undefined;
  getProviderDisplayName = (provider: string): string => providerDisplayName(provider);
  refresh = (): Promise<void> => this.#registry.load({ anyway: true });

  getProviderAuthStatus = (provider: string): AuthStatus => {
    const source = this.#registry.auth?.keySource(provider);
    const kinds = { runtime: 'runtime', stored: 'stored', signIn: 'stored', other: 'environment' } as const;
    if (!source) return { configured: this.#registry.hasKey(provider) };
    return { configured: this.#registry.hasKey(provider), source: kinds[source.kind], label: source.location };
  };

  /** A provider with its models; undefined if there is none of this name. */
  getProvider = (id: string) => {
    const models = this.#registry.all().filter(({ provider }) => provider === id);
    if (models.length === 0 && !this.#registry.registeredProviders.includes(id)) return undefined;
    return { id, name: providerDisplayName(id), models, getModels: () => models };
  };

  getRegisteredProviderIds = (): string[] => [...this.#registry.registeredProviders];
  registerProvider = (name: string, config: object): void => this.#registry.register(name, config);
  unregisterProvider = (name: string): void => this.#registry.unregister(name);

  stream = (...args: Parameters<ModelCalls['stream']>) => this.#calls.stream(...args);
  streamSimple = (...args: Parameters<ModelCalls['stream']>) => this.#calls.stream(...args);
  complete = (...args: Parameters<ModelCalls['complete']>) => this.#calls.complete(...args);
  completeSimple = (...args: Parameters<ModelCalls['complete']>) => this.#calls.complete(...args);

  getApiKeyAndHeaders = async (model: Model) => {
    try {
      return { ok: true as const, ...(await this.#registry.keyAndHeaders(model)) };
    } catch (error) {
      return { ok: false as const, error: messageOf(error) };
    }
  };

  /** The key and headers of a provider and where they come from; undefined if it has none. */
  getProviderAuth = async (provider: string) => {
    const model = this.getAll().find((candidate) => candidate.provider === provider);
    return model && this.authOf(model);
  };

  /** @internal */
  authOf = async (model: Pick<Model, 'provider' | 'id'>) => {
    const auth = await this.getApiKeyAndHeaders(model as Model);
    if (!auth.ok) return undefined;
    const source = this.#registry.auth?.keySource(model.provider)?.location;
    return { auth: { apiKey: auth.apiKey, headers: auth.headers }, ...(source === undefined ? {} : { source }) };
  };

  getApiKey = async (model: Model): Promise<string | undefined> => {
    const auth = await this.getApiKeyAndHeaders(model);
    return auth.ok ? auth.apiKey : undefined;
  };

  getApiKeyForProvider = async (provider: string): Promise<string | undefined> => {
    const model = this.getAll().find((candidate) => candidate.provider === provider);
    return model && this.getApiKey(model);
  };

  /** Throws: pi 1.5 has no such field either. */
  get authStorage(): never {
    const instead = 'use getApiKeyForProvider(), getProviderAuthStatus() or readStoredCredential()';
    throw new Refusal('not_supported', `modelRegistry.authStorage does not exist any more: ${instead}`);
  }
}

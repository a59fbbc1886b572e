import type { ModelRegistry } from '../../../model/registry/registry.ts';
import { messageOf } from '../../../protocol/errors.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { createModelCalls } from '../pi-shims/ai/model-calls.ts';

type ModelCalls = ReturnType<typeof createModelCalls>;

/** The model registry in pi's shape, read-only: `ctx.modelRegistry`. */
export class ModelsView {
  readonly #registry: ModelRegistry;
  readonly #calls: ModelCalls;

  constructor(registry: ModelRegistry, agentDir: string) {
    this.#registry = registry;
    this.#calls = createModelCalls({ agentDir, registry });
  }

  getAll = (): Model[] => [...this.#registry.available({ scripted: true })];
  getAvailable = (): Model[] => [...this.#registry.available()];
  /** Finds a model whether or not it has an API key. */
  find = (provider: string, modelId: string): Model | undefined => this.#registry.findAny(provider, modelId);
  hasConfiguredAuth = ({ provider }: Model): boolean => this.#registry.hasKey(provider);
  isUsingOAuth = (): boolean => false;
  getError = (): string | undefined => this.#registry.problems.join('\n') || undefined;
  getProviderDisplayName = (provider: string): string => provider;
  refresh = (): Promise<void> => this.#registry.load();

  streamSimple = (...args: Parameters<ModelCalls['stream']>) => this.#calls.stream(...args);
  complete = (...args: Parameters<ModelCalls['complete']>) => this.#calls.complete(...args);

  getApiKeyAndHeaders = async (model: Model) => {
    try {
      return { ok: true as const, ...(await this.#registry.keyAndHeaders(model)) };
    } catch (error) {
      return { ok: false as const, error: messageOf(error) };
    }
  };

  getApiKey = async (model: Model): Promise<string | undefined> => {
    const auth = await this.getApiKeyAndHeaders(model);
    return auth.ok ? auth.apiKey : undefined;
  };

  getApiKeyForProvider = async (provider: string): Promise<string | undefined> => {
    const model = this.getAll().find((candidate) => candidate.provider === provider);
    return model && this.getApiKey(model);
  };
}

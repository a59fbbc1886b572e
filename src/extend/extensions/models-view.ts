import type { ModelRegistry } from '../../model/registry.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';

/** The models there are, to look at: pi's names. */
export class ModelsView {
  readonly #registry: ModelRegistry;

  constructor(registry: ModelRegistry) {
    this.#registry = registry;
  }

  getAll = (): Model[] => [...this.#registry.available({ scripted: true })];
  getAvailable = (): Model[] => [...this.#registry.available()];
  find = (provider: string, modelId: string): Model | undefined => this.#registry.find(provider, modelId);
  hasConfiguredAuth = ({ provider, id }: Model): boolean => this.#registry.find(provider, id) !== undefined;
  isUsingOAuth = (): boolean => false;
  getError = (): string | undefined => this.#registry.problems.join('\n') || undefined;
  getProviderDisplayName = (provider: string): string => provider;
  refresh = (): Promise<void> => this.#registry.load();
}

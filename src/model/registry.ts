import type { Model } from '../protocol/generated/vocabulary.ts';
import type { Provider } from './request.ts';
import { scriptedModels } from './scripted/catalogue.ts';
import type { Script } from './scripted/script.ts';

/** The models this process knows, and who speaks to them. */
export class ModelRegistry {
  readonly #script: Script | undefined;
  #scripted: Provider | undefined;

  constructor(options: { script?: Script | undefined } = {}) {
    this.#script = options.script;
  }

  /** Models that can be used now, in the order in which they are cycled. */
  available(): readonly Model[] {
    return scriptedModels;
  }

  /** What is used when nobody named a model. */
  get fallback(): Model {
    const [first] = scriptedModels;
    if (!first) throw new Error('The catalogue of built-in models is empty');
    return first;
  }

  find(provider: string, id: string): Model | undefined {
    return this.available().find((model) => model.provider === provider && model.id === id);
  }

  /** Who speaks to this model; loaded when first asked for. */
  async provider(_model: Model): Promise<Provider> {
    if (!this.#scripted) {
      const { scriptedProvider } = await import('./scripted/player.ts');
      this.#scripted = scriptedProvider({ script: this.#script });
    }
    return this.#scripted;
  }
}

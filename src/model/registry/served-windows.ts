import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { Provider } from '../request.ts';

/** The context windows with which a local server really runs its models. */
export class ServedWindows {
  /** Called when a model has a smaller window than was assumed. */
  onSmaller: ((assumed: Model, served: Model) => void) | undefined;
  /** Models whose window is not checked again: their server has confirmed it, or does not report it. */
  readonly #confirmed = new WeakSet<Model>();
  /** Listed models, and the same ones with the smaller window of their server. */
  readonly #corrected = new WeakMap<Model, Model>();

  /** The model with the window that its server has, as far as that is known. */
  correct(model: Model): Model {
    return this.#corrected.get(model) ?? model;
  }

  /** A provider whose first call also queries the window. */
  async checking(provider: Provider, model: Model): Promise<Provider> {
    if (this.#confirmed.has(model)) return provider;
    const { withServedWindow } = await import('../local-servers/ollama.ts');
    return withServedWindow(provider, model, (contextWindow) => this.#apply(model, contextWindow));
  }

  #apply(model: Model, contextWindow: number | undefined): void {
    if (contextWindow === undefined || contextWindow >= model.contextWindow) {
      this.#confirmed.add(model);
      return;
    }
    const served = { ...model, contextWindow, maxTokens: Math.min(model.maxTokens, contextWindow) };
    this.#confirmed.add(served);
    this.#corrected.set(model, served);
    this.onSmaller?.(model, served);
  }
}

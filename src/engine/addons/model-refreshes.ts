/** The refreshes of models of a set of extensions, by provider. One that was stopped must not register its models. */
export class ModelRefreshes {
  readonly #running = new Map<string, AbortController>();

  /** Stops the previous refresh of the provider. */
  begin(provider: string): AbortSignal {
    this.stop(provider);
    const controller = new AbortController();
    this.#running.set(provider, controller);
    return controller.signal;
  }

  stop(provider: string): void {
    this.#running.get(provider)?.abort();
    this.#running.delete(provider);
  }

  stopAll(): void {
    for (const provider of [...this.#running.keys()]) this.stop(provider);
  }
}

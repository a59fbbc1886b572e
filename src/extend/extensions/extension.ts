import type { EventName } from './events.ts';
import type { CommandDefinition, ExtensionHandler, FlagDefinition, ToolDefinition } from './extension-api.ts';
import type { ExtensionSource } from './load/find-extensions.ts';

/** The registrations of one extension. */
export class Extension {
  readonly source: ExtensionSource;
  readonly tools = new Map<string, ToolDefinition>();
  readonly commands = new Map<string, CommandDefinition>();
  readonly flags = new Map<string, FlagDefinition>();
  readonly providers = new Map<string, object>();
  readonly #handlers = new Map<EventName, ExtensionHandler<EventName>[]>();
  /** False while the extension loads: it may register, but not act. */
  isReady = false;

  constructor(source: ExtensionSource) {
    this.source = source;
  }

  get path(): string {
    return this.source.path;
  }

  addHandler<E extends EventName>(event: E, handler: ExtensionHandler<E>): () => void {
    // The map pairs each event name with handlers of that event.
    const untyped = handler as unknown as ExtensionHandler<EventName>;
    this.#handlers.set(event, [...(this.#handlers.get(event) ?? []), untyped]);
    return () => {
      this.#handlers.set(
        event,
        (this.#handlers.get(event) ?? []).filter((other) => other !== untyped),
      );
    };
  }

  handlers<E extends EventName>(event: E): readonly ExtensionHandler<E>[] {
    return (this.#handlers.get(event) ?? []) as unknown as ExtensionHandler<E>[];
  }

  handles(event: EventName): boolean {
    return this.handlers(event).length > 0;
  }
}

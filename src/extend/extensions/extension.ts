import { dirname } from 'node:path';
import type { VirtualModelDefinition } from '../../model/registry/virtual-models.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { EventName } from './events.ts';
import type { CommandDefinition, ExtensionHandler, FlagDefinition, ToolDefinition } from './extension-api.ts';
import type { ExtensionSource } from './load/find-extensions.ts';

// The folder of tau's own code.
const SOURCE_FOLDER = dirname(import.meta.dirname);

/** The registrations of one extension. */
export class Extension {
  readonly source: ExtensionSource;
  readonly tools = new Map<string, ToolDefinition>();
  readonly commands = new Map<string, CommandDefinition>();
  readonly flags = new Map<string, FlagDefinition>();
  readonly providers = new Map<string, object>();
  /** By provider and id. */
  readonly virtualModels = new Map<string, VirtualModelDefinition>();
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

/**
 * The path of the extension that caused an uncaught error; undefined if tau caused it. A `Refusal` is never an error of
 * tau: it is always the response to a caller.
 */
export function findFailingExtension(error: unknown, sources: Iterable<ExtensionSource>): string | undefined {
  const stack = error instanceof Error ? String(error.stack) : '';
  for (const { path, baseDir } of sources) if (stack.includes(path) || stack.includes(`${baseDir}/`)) return path;
  return stack.includes(SOURCE_FOLDER) && !(error instanceof Refusal) ? undefined : '<runtime>';
}

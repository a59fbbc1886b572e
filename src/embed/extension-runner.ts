import type { Agent } from '../engine/agent.ts';
import type { EventName, ExtensionEvent } from '../extend/extensions/events.ts';
import type { ToolDefinition } from '../extend/extensions/extension-api.ts';
import type { SlashCommand } from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import type { ExtensionUIContext } from './embedder-ui.ts';
import { describeExtension, type LoadedExtension } from './resources/load-extensions.ts';
import { CUSTOM_TOOLS } from './tool-options.ts';

export interface ExtensionFailure {
  readonly extensionPath: string;
  readonly event: string;
  readonly error: string;
}

/** The extensions of an agent, without the program's own custom tools. */
export function extensionsOf({ addons }: Agent): LoadedExtension[] {
  return (addons.loaded?.extensions?.all ?? []).filter(({ path }) => path !== CUSTOM_TOOLS).map(describeExtension);
}

/** A view of the loaded extensions, under pi's names. */
export class ExtensionRunner {
  readonly #context: EmbedContext;

  constructor(context: EmbedContext) {
    this.#context = context;
  }

  get #extensions() {
    return this.#context.agent.addons.loaded?.extensions;
  }

  getExtensionPaths = (): string[] => extensionsOf(this.#context.agent).map(({ path }) => path);
  getRegisteredCommands = (): (SlashCommand & { invocationName: string })[] =>
    (this.#extensions?.commands ?? []).map((command) => ({ ...command, invocationName: command.name }));
  getCommand = (name: string): SlashCommand | undefined =>
    this.getRegisteredCommands().find((command) => command.name === name);
  getToolDefinition = (name: string): ToolDefinition | undefined => this.#extensions?.toolDefinition(name);
  getFlags = (): Map<string, unknown> =>
    new Map(this.#extensions?.all.flatMap(({ flags }) => [...flags] as [string, unknown][]) ?? []);
  getActiveTools = (): string[] => this.#context.agent.toolbox.activeNames;
  /** Calls the handlers of an event. A `session_shutdown` that the program emits is not repeated by `dispose()`. */
  emit = async (event: { readonly type: string }): Promise<unknown> =>
    this.#extensions?.emit(event as ExtensionEvent<EventName>);
  /** Sets the implementation of dialogs. */
  setUIContext = (ui?: ExtensionUIContext): void => this.#context.ui.bind(ui);
  /** Requests the end of the program. */
  shutdown = (): void => this.#context.agent.requestExit();
  hasHandlers = (event: string): boolean => this.#extensions?.handles(event as EventName) === true;
  /** Whether the program shows dialogs. */
  hasUI = (): boolean => (this.#context.ui.connection.capabilities.ui?.length ?? 0) > 0;

  /** Calls the listener for errors of extensions; the returned function stops that. */
  onError = (listener: (failure: ExtensionFailure) => void): (() => void) =>
    this.#context.events.subscribe((event) => {
      if (event.type !== 'extension_error') return;
      const { extensionPath, event: name, error } = event;
      listener({ extensionPath, event: name, error });
    });
}

import type { Agent } from '../engine/agent.ts';
import type { EventName } from '../extend/extensions/events.ts';
import type { Extension } from '../extend/extensions/extension.ts';
import type { SlashCommand } from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import { CUSTOM_TOOLS } from './tool-options.ts';

/** A loaded extension with its registrations. */
export interface LoadedExtension extends Pick<Extension, 'path' | 'tools' | 'commands' | 'flags'> {
  readonly resolvedPath: string;
}

export interface ExtensionFailure {
  readonly extensionPath: string;
  readonly event: string;
  readonly error: string;
}

/** The extensions of an agent, without the program's own custom tools. */
export function extensionsOf({ addons }: Agent): LoadedExtension[] {
  return (addons.loaded?.extensions?.all ?? [])
    .filter(({ path }) => path !== CUSTOM_TOOLS)
    .map(({ path, tools, commands, flags }) => ({ path, resolvedPath: path, tools, commands, flags }));
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
  getRegisteredCommands = (): SlashCommand[] => this.#extensions?.commands ?? [];
  getCommand = (name: string): SlashCommand | undefined =>
    this.getRegisteredCommands().find((command) => command.name === name);
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

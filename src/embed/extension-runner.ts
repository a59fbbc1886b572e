import type { Agent } from '../engine/agent.ts';
import type { EventName } from '../extend/extensions/events.ts';
import type { Extension } from '../extend/extensions/extension.ts';
import type { SlashCommand } from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import { CUSTOM_TOOLS } from './tool-options.ts';

/** An extension that was loaded, and what it has registered. */
export interface LoadedExtension extends Pick<Extension, 'path' | 'tools' | 'commands' | 'flags'> {
  readonly resolvedPath: string;
}

export interface ExtensionFailure {
  readonly extensionPath: string;
  readonly event: string;
  readonly error: string;
}

/** The extensions of an agent. The tools of the program itself are none. */
export function extensionsOf({ addons }: Agent): LoadedExtension[] {
  return (addons.loaded?.extensions?.all ?? [])
    .filter(({ path }) => path !== CUSTOM_TOOLS)
    .map(({ path, tools, commands, flags }) => ({ path, resolvedPath: path, tools, commands, flags }));
}

/** The extensions at work, to look at: pi's names. */
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
  /** Whether the program can show dialogs. */
  hasUI = (): boolean => (this.#context.ui.connection.capabilities.ui?.length ?? 0) > 0;

  /** Hears what goes wrong in extensions; the returned function ends it. */
  onError = (listener: (failure: ExtensionFailure) => void): (() => void) =>
    this.#context.events.subscribe((event) => {
      if (event.type !== 'extension_error') return;
      const { extensionPath, event: name, error } = event;
      listener({ extensionPath, event: name, error });
    });
}

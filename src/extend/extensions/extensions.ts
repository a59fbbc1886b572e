import { join } from 'node:path';
import type { Tool } from '../../agent/tool.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import { warn } from '../../system/terminal-text.ts';
import type { ExtensionMcpServer } from '../mcp/extension-servers.ts';
import { createApi } from './api/create-api.ts';
import { createEventBus, type EventBus } from './api/event-bus.ts';
import type { EventName, ExtensionEvent } from './events.ts';
import { Extension } from './extension.ts';
import type { CommandDefinition, ExtensionAPI, ToolDefinition } from './extension-api.ts';
import { HandlerRunner } from './hooks/call-handlers.ts';
import { extensionTools } from './hooks/extension-tools.ts';
import { runHooks } from './hooks/run-hooks.ts';
import { discoverResources, projectTrust, sessionFolder, sessionHooks } from './hooks/session-hooks.ts';
import type { ExtensionHost } from './host.ts';
import type { ExtensionSource } from './load/find-extensions.ts';
import { LOAD_TIMEOUT_MS, loadExtension, withLoadTimeout } from './load/load-extension.ts';

// A longer running command continues in the background after its prompt is answered.
const COMMAND_RESPONSE_MS = 5000;

/** All loaded extensions of an agent. */
export class Extensions {
  readonly #host: ExtensionHost;
  /** The event bus; other extensions may share it. */
  readonly #bus: EventBus;
  /** Removes the listeners of these extensions from the bus. */
  readonly #unsubscribe = new Set<() => void>();
  #lazyRunner: HandlerRunner | undefined;
  #extensions: Extension[] = [];
  #isClosed = false;
  readonly #events: ExtensionAPI['events'] = {
    on: (channel, listener) => {
      if (this.#isClosed) return () => {};
      const remove = this.#bus.on(channel, listener);
      const unsubscribe = () => {
        remove();
        this.#unsubscribe.delete(unsubscribe);
      };
      this.#unsubscribe.add(unsubscribe);
      return unsubscribe;
    },
    emit: (channel, data) => this.#bus.emit(channel, data),
  };

  constructor(host: ExtensionHost, bus?: EventBus) {
    this.#host = host;
    this.#bus = bus ?? createEventBus((channel, error) => this.#host.reportFailure('<events>', channel, error));
  }

  /** Created on first use: until then extensions may have no agent. */
  get #runner(): HandlerRunner {
    this.#lazyRunner ??= new HandlerRunner(this.#host, () => this.#extensions);
    return this.#lazyRunner;
  }

  /** Loads the extensions in order. A failure is reported and does not affect the others. */
  async load(sources: readonly ExtensionSource[]): Promise<void> {
    for (const source of sources) {
      if (this.#isClosed) return;
      const extension = new Extension(source);
      this.#host.blamable.add(source);
      try {
        await this.#runFactory(extension);
        this.#extensions.push(extension);
      } catch (error) {
        warn(`Failed to load extension "${source.path}": ${messageOf(error)}`);
        this.#host.reportFailure(source.path, 'load', error);
      }
    }
  }

  /** Allows the extensions to act on the agent. */
  activate(): void {
    for (const extension of this.#extensions) extension.isReady = true;
  }

  /** Disables these extensions, for example before a reload. */
  close(): void {
    this.#isClosed = true;
    if (this.#lazyRunner) this.#lazyRunner.isClosed = true;
    for (const extension of this.#extensions) extension.isReady = false;
    this.#extensions = [];
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#unsubscribe.clear();
  }

  /** Keeps these extensions only, in this order. */
  retain(kept: readonly Extension[]): void {
    this.#extensions = kept.filter((extension) => this.#extensions.includes(extension));
  }

  get all(): readonly Extension[] {
    return this.#extensions;
  }

  /** The session hooks of the events that have handlers now. */
  get hooks(): SessionHooks {
    if (this.#extensions.length === 0) return {};
    return { ...runHooks(this.#runner, this.#host), ...sessionHooks(this.#runner) };
  }

  get tools(): Tool[] {
    return extensionTools(
      this.#extensions,
      (path, otherTools) => this.#runner.contexts.forTool(path, otherTools),
      this.#host.warn,
    );
  }

  toolDefinition(name: string): ToolDefinition | undefined {
    return this.#extensions.find(({ tools }) => tools.has(name))?.tools.get(name);
  }

  /** True if the tool is active unless a user deactivates it. */
  isActiveByDefault(name: string): boolean {
    return this.#extensions.some(({ tools }) => tools.has(name) && tools.get(name)?.defaultActive !== false);
  }

  get flags(): ReadonlySet<string> {
    return new Set(this.#extensions.flatMap(({ flags }) => [...flags.keys()]));
  }

  get commands(): SlashCommand[] {
    return this.#commands().map(({ calledAs, definition, source }) =>
      commandFrom(calledAs, definition.description, source),
    );
  }

  hasCommand(command: string): boolean {
    return this.#findCommand(command) !== undefined;
  }

  /**
   * Runs a command and reports its error. Resolves when the command ends, waits for a dialog or takes long; the
   * command then continues in the background.
   */
  async runCommand(name: string, args: string): Promise<void> {
    const command = this.#findCommand(name);
    if (!command) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, COMMAND_RESPONSE_MS);
      const { definition, source } = command;
      const context = this.#runner.contexts.forCommand({ path: source.path, onWait: resolve });
      const work = (async () => void (await definition.handler(args, context)))()
        .catch((error: unknown) => this.#host.reportFailure(`command:${name}`, 'command', error))
        .finally(() => this.#host.commandsAtWork.delete(work));
      this.#host.commandsAtWork.add(work);
      void work.finally(resolve);
    });
    clearTimeout(timer);
  }

  /** Reports a change of the registered MCP servers to the handlers. */
  notifyMcpServers(servers: ExtensionMcpServer[]): void {
    if (this.handles('mcp_servers_change')) void this.#runner.notify({ type: 'mcp_servers_change', servers });
  }

  handles(event: EventName): boolean {
    return this.#runner.handles(event);
  }

  /** Calls the handlers of an event of the embedding program; returns the first result that cancels, or the last one. */
  async emit(event: ExtensionEvent<EventName>): Promise<unknown> {
    if (event.type === 'session_shutdown') this.#runner.hasShutDown = true;
    let last: unknown;
    for await (const result of this.#runner.results(event)) {
      last = result;
      if ((result as { cancel?: unknown }).cancel) break;
    }
    return last;
  }

  /** The context of a command, for the embedding program. */
  commandContext() {
    return this.#runner.contexts.forCommand({ path: '<program>' });
  }

  discover(reason: 'startup' | 'reload') {
    return discoverResources(this.#runner, this.#host.project().cwd, reason);
  }

  sessionFolder(cwd: string) {
    return sessionFolder(this.#runner, cwd);
  }

  projectTrust(cwd: string) {
    return projectTrust(this.#runner, cwd);
  }

  async #runFactory(extension: Extension): Promise<void> {
    const { agentDir, shell, registry, project, sdk } = this.#host;
    const timeoutMs = Math.min(project().settings.extensionTimeoutMs ?? LOAD_TIMEOUT_MS, LOAD_TIMEOUT_MS);
    const cacheDir = join(agentDir, 'cache', 'extensions');
    const onFailure = (event: string, error: unknown) => this.#host.reportFailure('<runtime>', event, error);
    const { source } = extension;
    const router: HandlerRunner['router'] = (path, route) => this.#runner.router(path, route);
    const environment = { cacheDir, agentDir, shell, registry, limitMs: timeoutMs, ...(sdk ? { sdk } : {}) };
    const factory = source.factory ?? (await loadExtension(source, environment));
    const running = (async () =>
      factory(createApi(extension, { host: this.#host, events: this.#events, router, onFailure })))();
    await withLoadTimeout(timeoutMs, running);
  }

  /** Commands of several extensions with one name get numbers: `name:1`, `name:2`. */
  #commands(): NamedCommand[] {
    const all = this.#extensions.flatMap(({ source, commands }) =>
      [...commands].map(([name, definition]) => ({ name, definition, source })),
    );
    return all.map((command) => {
      const same = all.filter(({ name }) => name === command.name);
      const number = same.length > 1 ? `:${same.indexOf(command) + 1}` : '';
      return { ...command, calledAs: `${command.name}${number}` };
    });
  }

  /** A name without a number means the first command of that name. */
  #findCommand(text: string): NamedCommand | undefined {
    const commands = this.#commands();
    return commands.find(({ calledAs }) => calledAs === text) ?? commands.find(({ name }) => name === text);
  }
}

interface NamedCommand {
  readonly calledAs: string;
  readonly name: string;
  readonly definition: CommandDefinition;
  readonly source: ExtensionSource;
}

const commandFrom = (name: string, description: string | undefined, source: ExtensionSource): SlashCommand => ({
  name,
  ...(description === undefined ? {} : { description }),
  source: 'extension',
  path: source.path,
  sourceInfo: {
    path: source.path,
    source: source.discoveredIn === undefined ? 'local' : 'auto',
    scope: source.scope,
    origin: source.origin,
    baseDir: source.discoveredIn ?? source.baseDir,
  },
});

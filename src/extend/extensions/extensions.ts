import { join } from 'node:path';
import type { Tool } from '../../agent/tool.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import { apiFor } from './api.ts';
import { newBus } from './bus.ts';
import { Callers } from './callers.ts';
import type { EventName } from './events.ts';
import { Extension } from './extension.ts';
import type { CommandDefinition } from './extension-api.ts';
import type { ExtensionSource } from './find-extensions.ts';
import type { ExtensionHost } from './host.ts';
import { LOAD_LIMIT_MS, loadExtension, loaded } from './load-extension.ts';
import { runHooks } from './run-hooks.ts';
import { discovered, sessionFolder, sessionHooks, trustIn } from './session-hooks.ts';
import { toolsOf } from './tools.ts';

/** How long a command may keep its prompt from being answered. */
const ANSWER_MS = 5000;

/** The extensions of an agent, loaded together. */
export class Extensions {
  readonly #host: ExtensionHost;
  readonly #callers: Callers;
  readonly #bus = newBus((channel, error) => this.#host.failed('<events>', channel, error));
  #extensions: Extension[] = [];
  #isClosed = false;

  constructor(host: ExtensionHost) {
    this.#host = host;
    this.#callers = new Callers(host, () => this.#extensions);
  }

  /** Runs these files one after another. One that fails is told of, and the others are loaded all the same. */
  async load(sources: readonly ExtensionSource[]): Promise<void> {
    for (const source of sources) {
      if (this.#isClosed) return;
      const extension = new Extension(source);
      this.#host.blamable.add(source);
      try {
        await this.#run(extension);
        this.#extensions.push(extension);
      } catch (error) {
        process.stderr.write(`tau: Failed to load extension "${source.path}": ${messageOf(error)}\n`);
        this.#host.failed(source.path, 'load', error);
      }
    }
  }

  /** From now on extensions may act. */
  begin(): void {
    for (const extension of this.#extensions) extension.isReady = true;
  }

  /** They are no longer there: others may be in their place. */
  close(): void {
    this.#isClosed = true;
    this.#callers.isClosed = true;
    for (const extension of this.#extensions) extension.isReady = false;
    this.#extensions = [];
    this.#bus.clear();
  }

  get all(): readonly Extension[] {
    return this.#extensions;
  }

  /** How they step in, as far as they do at the moment. */
  get hooks(): SessionHooks {
    if (this.#extensions.length === 0) return {};
    return { ...runHooks(this.#callers, this.#host), ...sessionHooks(this.#callers) };
  }

  get tools(): Tool[] {
    return toolsOf(this.#extensions, () => this.#callers.contexts.forCall());
  }

  /** Whether the model is offered this tool without anybody's say. */
  offers(name: string): boolean {
    return this.#extensions.some(({ tools }) => tools.has(name) && tools.get(name)?.defaultActive !== false);
  }

  /** The flags that they know. */
  get flags(): ReadonlySet<string> {
    return new Set(this.#extensions.flatMap(({ flags }) => [...flags.keys()]));
  }

  get commands(): SlashCommand[] {
    return this.#calls().map(({ call, definition, source }) => commandFrom(call, definition.description, source));
  }

  knows(command: string): boolean {
    return this.#command(command) !== undefined;
  }

  /**
   * Runs a command. Settles when it is done, or when it waits for somebody, or when it takes long: then it goes on by
   * itself. What it throws is told of.
   */
  async run(name: string, args: string): Promise<void> {
    const command = this.#command(name);
    if (!command) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS);
      const context = this.#callers.contexts.forCommand({ onWait: resolve });
      const work = (async () => void (await command.handler(args, context)))()
        .catch((error: unknown) => this.#host.failed(`command:${name}`, 'command', error))
        .finally(() => this.#host.commandsAtWork.delete(work));
      this.#host.commandsAtWork.add(work);
      void work.finally(resolve);
    });
    clearTimeout(timer);
  }

  hears(event: EventName): boolean {
    return this.#callers.hears(event);
  }

  /** Where they say that more skills and templates are. */
  discover(reason: 'startup' | 'reload') {
    return discovered(this.#callers, this.#host.project().cwd, reason);
  }

  sessionFolder(cwd: string) {
    return sessionFolder(this.#callers, cwd);
  }

  trustIn(cwd: string) {
    return trustIn(this.#callers, cwd);
  }

  async #run(extension: Extension): Promise<void> {
    const { agentDir, shell, registry, project } = this.#host;
    const limitMs = Math.min(project().settings.extensionTimeoutMs ?? LOAD_LIMIT_MS, LOAD_LIMIT_MS);
    const cacheDir = join(agentDir, 'cache', 'extensions');
    const onFailure = (event: string, error: unknown) => this.#host.failed('<runtime>', event, error);
    const { source } = extension;
    const home = { cacheDir, agentDir, shell, registry, limitMs };
    const factory = source.factory ?? (await loadExtension(source, home));
    const made = (async () => factory(apiFor(extension, { host: this.#host, bus: this.#bus, onFailure })))();
    await loaded(limitMs, made);
  }

  /** By what they are called: where several extensions have the same name for one, each has a number behind it. */
  #calls(): { call: string; name: string; definition: CommandDefinition; source: ExtensionSource }[] {
    const all = this.#extensions.flatMap(({ source, commands }) =>
      [...commands].map(([name, definition]) => ({ name, definition, source })),
    );
    return all.map((command) => {
      const same = all.filter(({ name }) => name === command.name);
      const number = same.length > 1 ? `:${same.indexOf(command) + 1}` : '';
      return { ...command, call: `${command.name}${number}` };
    });
  }

  /** A name without a number means the first of that name. */
  #command(word: string): CommandDefinition | undefined {
    const calls = this.#calls();
    return (calls.find(({ call }) => call === word) ?? calls.find(({ name }) => name === word))?.definition;
  }
}

const commandFrom = (name: string, description: string | undefined, source: ExtensionSource): SlashCommand => ({
  name,
  ...(description === undefined ? {} : { description }),
  source: 'extension',
  path: source.path,
  sourceInfo: {
    path: source.path,
    source: 'local',
    scope: source.scope,
    origin: source.origin,
    baseDir: source.baseDir,
  },
});

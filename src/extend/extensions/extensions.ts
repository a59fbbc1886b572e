import { join } from 'node:path';
import type { Tool } from '../../agent/tool.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import { apiFor } from './api.ts';
import { newBus } from './bus.ts';
import { Callers } from './callers.ts';
import { commandContextFor } from './context.ts';
import { Deadline } from './deadline.ts';
import type { EventName } from './events.ts';
import { Extension } from './extension.ts';
import type { CommandDefinition } from './extension-api.ts';
import type { ExtensionSource } from './find-extensions.ts';
import type { ExtensionHost } from './host.ts';
import { loadExtension } from './load-extension.ts';
import { runHooks } from './run-hooks.ts';
import { directoryFor, discovered, sessionHooks, trustIn } from './session-hooks.ts';
import { toolsOf } from './tools.ts';

/** How long the file of an extension, and the function it exports, may take. */
const LOAD_MS = 30_000;

/** How long a command may keep its prompt from being answered. */
const ANSWER_MS = 5000;

/** The extensions of an agent. */
export class Extensions {
  readonly #host: ExtensionHost;
  readonly #callers: Callers;
  readonly #bus = newBus((channel, error) => this.#callers.failed('<events>', channel, error));
  #extensions: Extension[] = [];

  constructor(host: ExtensionHost) {
    this.#host = host;
    this.#callers = new Callers(host, () => this.#extensions);
  }

  /** Runs these files one after another. One that fails is told of, and the others are loaded all the same. */
  async load(sources: readonly ExtensionSource[]): Promise<void> {
    for (const source of sources) {
      const extension = new Extension(source);
      try {
        await Deadline.race(LOAD_MS, () => this.#run(extension));
        if (extension.providers.size > 0) await this.#host.register(extension);
        this.#extensions.push(extension);
      } catch (error) {
        this.#host.unregister(extension.providers.keys());
        process.stderr.write(`tau: Failed to load extension "${source.path}": ${messageOf(error)}\n`);
        this.#callers.failed(source.path, 'load', error);
      }
    }
  }

  /** From now on extensions may act. */
  begin(): void {
    for (const extension of this.#extensions) extension.isReady = true;
  }

  async #run(extension: Extension): Promise<void> {
    const { agentDir, family } = this.#host;
    const cacheDir = join(agentDir, 'cache', 'extensions');
    const factory = await loadExtension(extension.source, { cacheDir, agentDir, family });
    const onFailure = (event: string, error: unknown) => this.#callers.failed('<runtime>', event, error);
    await factory(apiFor(extension, { host: this.#host, bus: this.#bus, onFailure }));
  }

  /** They are about to be loaded again, or others in their place. */
  close(): void {
    for (const extension of this.#extensions) {
      extension.isReady = false;
      this.#host.unregister(extension.providers.keys());
    }
    this.#extensions = [];
  }

  get isEmpty(): boolean {
    return this.#extensions.length === 0;
  }

  /** How they step in, as far as they do at the moment. */
  get hooks(): SessionHooks {
    if (this.isEmpty) return {};
    return { ...runHooks(this.#callers, this.#host), ...sessionHooks(this.#callers) };
  }

  get tools(): Tool[] {
    return toolsOf(this.#extensions, this.#host, () => this.#callers.systemPrompt());
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
    const listed = new Map<string, SlashCommand>();
    for (const { source, commands } of this.#extensions) {
      for (const [name, { description }] of commands) {
        if (!listed.has(name)) listed.set(name, commandFrom(name, description, source));
      }
    }
    return [...listed.values()];
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
      const context = commandContextFor(this.#host, {
        onWait: resolve,
        systemPrompt: () => this.#callers.systemPrompt(),
      });
      const work = (async () => command.handler(args, context))();
      work.catch((error: unknown) => this.#callers.failed(`command:${name}`, 'command', error)).finally(resolve);
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

  /** Where they want a new session of this folder, if anywhere. */
  directoryFor(cwd: string) {
    return directoryFor(this.#callers, cwd);
  }

  trustIn(cwd: string) {
    return trustIn(this.#callers, cwd);
  }

  #command(name: string): CommandDefinition | undefined {
    for (const { commands } of this.#extensions) {
      const command = commands.get(name);
      if (command) return command;
    }
    return undefined;
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

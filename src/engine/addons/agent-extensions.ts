import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Dialogs } from '../../extend/dialogs.ts';
import type { Extensions } from '../../extend/extensions/extensions.ts';
import type { ExtensionSource } from '../../extend/extensions/load/find-extensions.ts';
import type { PackageResources } from '../../extend/extensions/load/package-resources.ts';
import type { HookSet } from '../../extend/hook-set.ts';
import { withTimeout } from '../../system/with-timeout.ts';
import type { Agent } from '../agent.ts';
import { publishChanges } from '../agent-state.ts';

interface ExtensionServices {
  readonly dialogs: Dialogs;
  readonly hooks: HookSet;
  readonly reload: () => Promise<void>;
  readonly warn: (warnings: readonly string[]) => void;
}

/** Resource files and folders contributed by extensions and packages. */
export interface ResourcePaths {
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
}

// Longest wait for running commands at the end of the process.
const COMMAND_DRAIN_MS = 60_000;

const NO_PATHS: ResourcePaths = { skills: [], prompts: [] };

/** Finds, loads and replaces the extensions of an agent. */
export class AgentExtensions {
  readonly #agent: Agent;
  readonly #services: ExtensionServices;
  readonly #blamable = new Set<ExtensionSource>();
  readonly #runningCommands = new Set<Promise<void>>();
  #current: Extensions | undefined;
  #packaged: ResourcePaths = NO_PATHS;
  #discovered: ResourcePaths = NO_PATHS;
  #isClosed = false;
  #stopCatching: (() => void) | undefined;

  constructor(agent: Agent, services: ExtensionServices) {
    this.#agent = agent;
    this.#services = services;
  }

  /** Undefined until an extension was found. */
  get current(): Extensions | undefined {
    return this.#current;
  }

  get resourcePaths(): ResourcePaths {
    const { skills, prompts } = this.#packaged;
    return {
      skills: [...skills, ...this.#discovered.skills],
      prompts: [...prompts, ...this.#discovered.prompts],
    };
  }

  /** Loads the extensions that exist now. The previous ones stay active until then: no gate is ever open. */
  async load(reason: 'startup' | 'reload'): Promise<void> {
    const next = await this.#loadNext();
    const bringsModels = next?.all.some(({ providers }) => providers.size > 0);
    if (bringsModels) await this.#agent.registry.load({ anyway: true });
    if (this.#isClosed) {
      next?.close();
      return;
    }
    this.#replace(next);
    await this.#agent.onModelsChanged();
    this.#discovered = (await next?.discover(reason)) ?? NO_PATHS;
  }

  /** Settles when all running commands are done, or after `COMMAND_DRAIN_MS`. */
  async commandsDone(): Promise<void> {
    if (this.#runningCommands.size === 0) return;
    await withTimeout(COMMAND_DRAIN_MS, Promise.all(this.#runningCommands), 'It takes too long').catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.close();
    this.#stopCatching?.();
  }

  /** Replaces all extensions synchronously. */
  #replace(next: Extensions | undefined): void {
    const before = this.#current;
    if (!before && !next) return;
    const { registry } = this.#agent;
    for (const { providers } of before?.all ?? []) for (const name of providers.keys()) registry.unregister(name);
    for (const { path, providers } of next?.all ?? []) {
      for (const [name, config] of providers) this.#attempt(path, () => registry.register(name, config));
    }
    this.#current = next;
    next?.activate();
    // Before everything else that may fail: no gate may be missing.
    this.#services.hooks.put('extensions', next?.hooks ?? {});
    before?.close();
    this.#services.dialogs.clearPersistent();
    this.#updateTools(next);
  }

  #attempt(path: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#agent.addons.publishError(path, 'load', error);
    }
  }

  /** Extensions of a project load only if it is trusted; extensions of the user may decide that. */
  async #loadNext(): Promise<Extensions | undefined> {
    const first = await this.#find();
    if (first.length === 0) return undefined;
    const extensions = await this.#create();
    await extensions.load(first);
    if (await this.#decidesTrust(extensions)) {
      const all = await this.#find();
      await extensions.load(all.filter(({ path }) => !first.some((source) => source.path === path)));
    }
    const givenFlags = [...(this.#agent.addonPaths.options.flags?.keys() ?? [])];
    const unknown = givenFlags.filter((name) => !extensions.flags.has(name));
    this.#services.warn(unknown.map((name) => `Unknown option: --${name}`));
    return extensions;
  }

  async #find(): Promise<readonly ExtensionSource[]> {
    const { agentDir, cwd, settings, options } = this.#agent.addonPaths;
    const { findExtensions } = await import('../../extend/extensions/load/find-extensions.ts');
    const find = options.findExtensions ?? true;
    const packages = await this.#packages();
    this.#packaged = packages;
    const { found, warnings } = findExtensions({
      agentDir,
      cwd,
      trusted: this.#agent.project.trusted,
      discover: find,
      fromSettings: (find ? settings.extensions : []) ?? [],
      fromFlags: options.extensions ?? [],
      fromPackages: packages.extensions,
    });
    this.#services.warn([...packages.warnings, ...warnings]);
    return [...this.#embeddedSources(), ...found];
  }

  #embeddedSources(): ExtensionSource[] {
    const { cwd, options } = this.#agent.addonPaths;
    return [...(options.extensionFactories ?? [])].map(([path, factory]) => {
      return { path, factory, scope: 'temporary', origin: 'top-level', baseDir: cwd };
    });
  }

  async #packages(): Promise<PackageResources> {
    const { agentDir, cwd, settings } = this.#agent.addonPaths;
    const { packages = [] } = settings;
    if (packages.length === 0) return { ...NO_PATHS, extensions: [], warnings: [] };
    const { packageResources } = await import('../../extend/extensions/load/package-resources.ts');
    return packageResources(packages, { agentDir, cwd, trusted: this.#agent.project.trusted });
  }

  async #create(): Promise<Extensions> {
    const [{ Extensions }, { extensionHost }] = await Promise.all([
      import('../../extend/extensions/extensions.ts'),
      import('./extension-host.ts'),
    ]);
    await this.#catchStrayErrors();
    const { dialogs, reload, hooks } = this.#services;
    const extensions: Extensions = new Extensions(
      extensionHost(this.#agent, {
        dialogs,
        reload,
        blamable: this.#blamable,
        commandsAtWork: this.#runningCommands,
        toolsChanged: () => this.#updateTools(extensions),
        hooksChanged: () => hooks.put('extensions', extensions.hooks),
      }),
    );
    return extensions;
  }

  /** Reports uncaught errors of extensions instead of ending the process. */
  async #catchStrayErrors(): Promise<void> {
    if (this.#stopCatching || !this.#agent.addonPaths.options.ownsProcess) return;
    const [{ onUncaughtError }, { findFailingExtension }] = await Promise.all([
      import('../../system/uncaught-errors.ts'),
      import('../../extend/extensions/find-failing-extension.ts'),
    ]);
    this.#stopCatching ??= onUncaughtError((error) => {
      const extensionPath = findFailingExtension(error, this.#blamable);
      if (extensionPath !== undefined) this.#agent.addons.publishError(extensionPath, 'uncaught', error);
      return extensionPath !== undefined;
    });
  }

  #updateTools(extensions: Extensions | undefined): void {
    const { toolbox } = this.#agent;
    const isOffered = (name: string) => extensions?.isActiveByDefault(name) === true;
    publishChanges(this.#agent, () => toolbox.setTools('extension', extensions?.tools ?? [], { isOffered }));
  }

  /** Whether an extension decides to trust the project. */
  async #decidesTrust(extensions: Extensions): Promise<boolean> {
    const { project } = this.#agent;
    const hasProjectFolder = existsSync(join(project.cwd, '.pi'));
    if (project.isTrustDecided || !hasProjectFolder || !extensions.handles('project_trust')) return false;
    const verdict = await extensions.projectTrust(project.cwd);
    if (!verdict) return false;
    await this.#agent.currentProject.decideTrust(verdict);
    return verdict.trusted;
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Dialogs } from '../../extend/dialogs.ts';
import type { Extensions } from '../../extend/extensions/extensions.ts';
import type { ExtensionSource } from '../../extend/extensions/find-extensions.ts';
import type { PackageResources } from '../../extend/extensions/package-resources.ts';
import type { HookSet } from '../../extend/hook-set.ts';
import { withTimeout } from '../../system/with-timeout.ts';
import type { Agent } from '../agent.ts';

interface Duties {
  readonly dialogs: Dialogs;
  readonly hooks: HookSet;
  readonly reload: () => Promise<void>;
  readonly warn: (warnings: readonly string[]) => void;
}

/** Files and folders that extensions and packages bring along. */
export interface BroughtPaths {
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
}

/** How long a command may go on when everything else is over, and somebody waits for it. */
const LAST_MS = 60_000;

const NOTHING: BroughtPaths = { skills: [], prompts: [] };

/** The extensions of an agent: found, run, and put to use. */
export class AgentExtensions {
  readonly #agent: Agent;
  readonly #duties: Duties;
  readonly #blamable = new Set<ExtensionSource>();
  readonly #commandsAtWork = new Set<Promise<void>>();
  #running: Extensions | undefined;
  #packaged: BroughtPaths = NOTHING;
  #discovered: BroughtPaths = NOTHING;
  #isClosed = false;
  #unguard: (() => void) | undefined;

  constructor(agent: Agent, duties: Duties) {
    this.#agent = agent;
    this.#duties = duties;
  }

  /** There once an extension was found. */
  get running(): Extensions | undefined {
    return this.#running;
  }

  get brought(): BroughtPaths {
    const { skills, prompts } = this.#packaged;
    return {
      skills: [...skills, ...this.#discovered.skills],
      prompts: [...prompts, ...this.#discovered.prompts],
    };
  }

  /** Finds and runs what there is now. Until that is done, what was there before goes on: a gate is never left open. */
  async load(reason: 'startup' | 'reload'): Promise<void> {
    const next = await this.#loaded();
    const bringsModels = next?.all.some(({ providers }) => providers.size > 0);
    if (bringsModels) await this.#agent.registry.load({ anyway: true });
    if (this.#isClosed) {
      next?.close();
      return;
    }
    this.#exchange(next);
    await this.#agent.modelsChanged();
    this.#discovered = (await next?.discover(reason)) ?? NOTHING;
  }

  /** Settles when every command is done that runs now, or takes too long. */
  async commandsDone(): Promise<void> {
    if (this.#commandsAtWork.size === 0) return;
    await withTimeout(LAST_MS, Promise.all(this.#commandsAtWork), 'It takes too long').catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#running?.close();
    this.#unguard?.();
  }

  /** Puts extensions in the place of those before them, in one moment. */
  #exchange(next: Extensions | undefined): void {
    const before = this.#running;
    if (!before && !next) return;
    const { registry } = this.#agent;
    for (const { providers } of before?.all ?? []) for (const name of providers.keys()) registry.unregister(name);
    for (const { path, providers } of next?.all ?? []) {
      for (const [name, config] of providers) this.#attempt(path, () => registry.register(name, config));
    }
    this.#running = next;
    next?.begin();
    // First of all: whatever else goes wrong, no gate is missing.
    this.#duties.hooks.put('extensions', next?.hooks ?? {});
    before?.close();
    this.#duties.dialogs.forget();
    this.#takeTools(next);
  }

  #attempt(path: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#agent.additions.failed(path, 'load', error);
    }
  }

  /** Those of a project count where it is trusted; those of the user may have a say in that. */
  async #loaded(): Promise<Extensions | undefined> {
    const first = await this.#find();
    if (first.length === 0) return undefined;
    const extensions = await this.#create();
    await extensions.load(first);
    if (await this.#isTrustedBy(extensions)) {
      const all = await this.#find();
      await extensions.load(all.filter(({ path }) => !first.some((source) => source.path === path)));
    }
    const said = [...(this.#agent.surroundings.wishes.flags?.keys() ?? [])];
    const unknown = said.filter((name) => !extensions.flags.has(name));
    this.#duties.warn(unknown.map((name) => `Unknown option: --${name}`));
    return extensions;
  }

  async #find(): Promise<readonly ExtensionSource[]> {
    const { agentDir, cwd, settings, wishes } = this.#agent.surroundings;
    const { findExtensions } = await import('../../extend/extensions/find-extensions.ts');
    const find = wishes.findExtensions ?? true;
    const packages = await this.#packages();
    this.#packaged = packages;
    const { found, warnings } = findExtensions({
      agentDir,
      cwd,
      trusted: this.#agent.project.trusted,
      find,
      settled: (find ? settings.extensions : []) ?? [],
      named: wishes.extensions ?? [],
      packaged: packages.extensions,
    });
    this.#duties.warn([...packages.warnings, ...warnings]);
    return [...this.#inProgram(), ...found];
  }

  #inProgram(): ExtensionSource[] {
    const { cwd, wishes } = this.#agent.surroundings;
    return [...(wishes.extensionFactories ?? [])].map(([path, factory]) => {
      return { path, factory, scope: 'temporary', origin: 'top-level', baseDir: cwd };
    });
  }

  async #packages(): Promise<PackageResources> {
    const { agentDir, cwd, settings } = this.#agent.surroundings;
    const { packages = [] } = settings;
    if (packages.length === 0) return { ...NOTHING, extensions: [], warnings: [] };
    const { packageResources } = await import('../../extend/extensions/package-resources.ts');
    return packageResources(packages, { agentDir, cwd, trusted: this.#agent.project.trusted });
  }

  async #create(): Promise<Extensions> {
    const [{ Extensions }, { extensionHost }] = await Promise.all([
      import('../../extend/extensions/extensions.ts'),
      import('./extension-host.ts'),
    ]);
    await this.#guard();
    const { dialogs, reload, hooks } = this.#duties;
    const extensions: Extensions = new Extensions(
      extensionHost(this.#agent, {
        dialogs,
        reload,
        blamable: this.#blamable,
        commandsAtWork: this.#commandsAtWork,
        toolsChanged: () => this.#takeTools(extensions),
        hooksChanged: () => hooks.put('extensions', extensions.hooks),
      }),
    );
    return extensions;
  }

  /** What an extension forgets to catch is its own affair. */
  async #guard(): Promise<void> {
    if (this.#unguard || !this.#agent.surroundings.wishes.ownsProcess) return;
    const [{ onUncaughtError: onStrayError }, { culpritOf }] = await Promise.all([
      import('../../system/uncaught-errors.ts'),
      import('../../extend/extensions/culprit.ts'),
    ]);
    this.#unguard ??= onStrayError((error) => {
      const culprit = culpritOf(error, this.#blamable);
      if (culprit !== undefined) this.#agent.additions.failed(culprit, 'uncaught', error);
      return culprit !== undefined;
    });
  }

  #takeTools(extensions: Extensions | undefined): void {
    const { toolbox } = this.#agent;
    const isOffered = (name: string) => extensions?.offers(name) === true;
    this.#agent.change(() => toolbox.put('extension', extensions?.tools ?? [], { isOffered }));
  }

  /** Whether an extension decides that the project is to be trusted. */
  async #isTrustedBy(extensions: Extensions): Promise<boolean> {
    const { project } = this.#agent;
    const isAnythingThere = existsSync(join(project.cwd, '.pi'));
    if (project.isDecided || !isAnythingThere || !extensions.hears('project_trust')) return false;
    const verdict = await extensions.trustIn(project.cwd);
    if (!verdict) return false;
    await this.#agent.decideTrust(verdict);
    return verdict.trusted;
  }
}

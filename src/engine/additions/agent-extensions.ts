import type { Dialogs } from '../../extend/dialogs.ts';
import type { Extensions } from '../../extend/extensions/extensions.ts';
import type { ExtensionSource } from '../../extend/extensions/find-extensions.ts';
import type { PackageResources } from '../../extend/extensions/package-resources.ts';
import type { HookSet } from '../../extend/hook-set.ts';
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

/** The extensions of an agent: found, run, and put to use. */
export class AgentExtensions {
  readonly #agent: Agent;
  readonly #duties: Duties;
  #running: Extensions | undefined;
  #packaged: BroughtPaths = NOTHING;
  #discovered: BroughtPaths = NOTHING;

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

  /** Those of a project count where it is trusted; those of the user may have a say in that. */
  async load(reason: 'startup' | 'reload'): Promise<void> {
    this.#running?.close();
    this.#discovered = NOTHING;
    const first = await this.#find();
    await this.#run(first);
    if (await this.#isTrustedNow()) {
      const all = await this.#find();
      await this.#run(all.filter(({ path }) => !first.some((source) => source.path === path)));
    }
    this.#warnOfFlags();
    this.#discovered = (await this.#running?.discover(reason)) ?? NOTHING;
  }

  close(): void {
    this.#running?.close();
  }

  async #find(): Promise<readonly ExtensionSource[]> {
    const { agentDir, cwd, settings, wishes } = this.#agent.surroundings;
    const { trusted } = this.#agent.project;
    const { findExtensions } = await import('../../extend/extensions/find-extensions.ts');
    const find = wishes.findExtensions ?? true;
    const packages = await this.#packages();
    this.#packaged = packages;
    const { found, warnings } = findExtensions({
      agentDir,
      cwd,
      trusted,
      find,
      named: [...((find ? settings.extensions : []) ?? []), ...(wishes.extensions ?? [])],
      packaged: packages.extensions,
    });
    this.#duties.warn([...packages.warnings, ...warnings]);
    return found;
  }

  async #packages(): Promise<PackageResources> {
    const { agentDir, cwd, settings } = this.#agent.surroundings;
    const { packages = [] } = settings;
    if (packages.length === 0) return { ...NOTHING, extensions: [], warnings: [] };
    const { packageResources } = await import('../../extend/extensions/package-resources.ts');
    return packageResources(packages, { agentDir, cwd, trusted: this.#agent.project.trusted });
  }

  /** Where there is nothing any more, what was there before goes. */
  async #run(sources: readonly ExtensionSource[]): Promise<void> {
    if (sources.length === 0 && !this.#running) return;
    const extensions = this.#running ?? (await this.#create());
    this.#running = extensions;
    await extensions.load(sources);
    extensions.begin();
    this.#takeTools(extensions);
    this.#takeHooks(extensions);
  }

  #warnOfFlags(): void {
    const said = [...(this.#agent.surroundings.wishes.flags?.keys() ?? [])];
    const unknown = said.filter((name) => !this.#running?.flags.has(name));
    this.#duties.warn(unknown.map((name) => `Unknown option: --${name}`));
  }

  async #create(): Promise<Extensions> {
    const [{ Extensions }, { extensionHost }] = await Promise.all([
      import('../../extend/extensions/extensions.ts'),
      import('./extension-host.ts'),
    ]);
    const { dialogs, reload } = this.#duties;
    const extensions: Extensions = new Extensions(
      extensionHost(this.#agent, {
        dialogs,
        reload,
        toolsChanged: () => this.#takeTools(extensions),
        hooksChanged: () => this.#takeHooks(extensions),
      }),
    );
    return extensions;
  }

  #takeTools(extensions: Extensions): void {
    const { toolbox } = this.#agent;
    const isOffered = (name: string) => extensions.offers(name);
    this.#agent.change(() => toolbox.put('extension', extensions.tools, { isOffered }));
  }

  #takeHooks(extensions: Extensions): void {
    this.#duties.hooks.put('extensions', extensions.hooks);
  }

  /** Whether an extension has just decided that the project is to be trusted. */
  async #isTrustedNow(): Promise<boolean> {
    const { project } = this.#agent;
    if (project.isDecided || !this.#running?.hears('project_trust')) return false;
    const verdict = await this.#running.trustIn(project.cwd);
    if (!verdict) return false;
    await this.#agent.decideTrust(verdict);
    return verdict.trusted;
  }
}

const NOTHING: BroughtPaths = { skills: [], prompts: [] };

import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { EventBus } from '../../extend/extensions/api/event-bus.ts';
import { findExtensions } from '../../extend/extensions/load/find-extensions.ts';
import { type PackageResources, packageResources } from '../../extend/extensions/load/package-resources.ts';
import type { PreloadedExtensions } from '../../extend/extensions/load/preloaded-extensions.ts';
import type { SdkLoader } from '../../extend/extensions/pi-shims/extension-environment.ts';
import { promptParts } from '../../extend/prompt-parts.ts';
import { Resources } from '../../extend/resources/resources.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { checkSettings } from '../../store/settings.ts';
import { SettingsManager } from '../settings/settings-manager.ts';
import {
  createExtensionRuntime,
  type InlineExtension,
  inlineSources,
  type LoadExtensionsResult,
  preload,
  preloadOptions,
} from './load-extensions.ts';
import { type PromptTemplate, promptTemplates, type Skill, skillsIn } from './resource-view.ts';

/** A problem of a skill, template or extension. */
export interface ResourceDiagnostic {
  readonly type: 'warning' | 'error';
  readonly message: string;
}

interface SkillList {
  skills: Skill[];
  diagnostics: ResourceDiagnostic[];
}

interface PromptList {
  prompts: PromptTemplate[];
  diagnostics: ResourceDiagnostic[];
}

interface ContextFileList {
  agentsFiles: { path: string; content: string }[];
}

/** The options of pi's `DefaultResourceLoader`; those for themes have no effect. */
export interface DefaultResourceLoaderOptions {
  readonly cwd: string;
  readonly agentDir?: string | undefined;
  readonly settingsManager?: SettingsManager | undefined;
  readonly eventBus?: EventBus | undefined;
  readonly additionalExtensionPaths?: readonly string[] | undefined;
  readonly additionalSkillPaths?: readonly string[] | undefined;
  readonly additionalPromptTemplatePaths?: readonly string[] | undefined;
  readonly extensionFactories?: readonly InlineExtension[] | undefined;
  readonly noExtensions?: boolean | undefined;
  readonly noSkills?: boolean | undefined;
  readonly noPromptTemplates?: boolean | undefined;
  readonly noThemes?: boolean | undefined;
  readonly noContextFiles?: boolean | undefined;
  /** A text, or the path of a file with it. */
  readonly systemPrompt?: string | undefined;
  readonly appendSystemPrompt?: readonly string[] | undefined;
  readonly extensionsOverride?: ((base: LoadExtensionsResult) => LoadExtensionsResult) | undefined;
  readonly skillsOverride?: ((base: SkillList) => SkillList) | undefined;
  readonly promptsOverride?: ((base: PromptList) => PromptList) | undefined;
  readonly agentsFilesOverride?: ((base: ContextFileList) => ContextFileList) | undefined;
  readonly systemPromptOverride?: ((base: string | undefined) => string | undefined) | undefined;
  readonly appendSystemPromptOverride?: ((base: string[]) => string[]) | undefined;
}

export interface ResourceLoaderReloadOptions {
  /** Decides whether the resources of the project are loaded. */
  readonly resolveProjectTrust?:
    | ((input: { extensionsResult: LoadExtensionsResult }) => Promise<boolean> | boolean)
    | undefined;
}

/** The parts of a parent agent that extensions of a loader share. */
export interface LoaderParent {
  readonly registry: ModelRegistry;
  readonly sdk: SdkLoader;
}

/**
 * Finds extensions, skills, templates and context files as the agent does, and lets the program change each list.
 * Nothing is found before `reload`.
 */
export class DefaultResourceLoader {
  readonly #options: DefaultResourceLoaderOptions;
  readonly #cwd: string;
  readonly #folder: string;
  readonly #settings: SettingsManager;
  #extensions: LoadExtensionsResult = { extensions: [], errors: [], runtime: createExtensionRuntime() };
  /** The extensions that the last `reload` loaded. */
  #preloaded: PreloadedExtensions | undefined;
  #skills: SkillList = { skills: [], diagnostics: [] };
  #prompts: PromptList = { prompts: [], diagnostics: [] };
  #extraPaths: ResourcePaths = { skills: [], prompts: [] };

  /** Whether `reload` has succeeded. */
  loaded = false;
  /** @internal The agent whose extension created this loader. */
  parent: LoaderParent | undefined;

  constructor(options: DefaultResourceLoaderOptions) {
    this.#options = options;
    this.#cwd = resolve(options.cwd);
    this.#folder = options.agentDir ?? agentDir(process.env);
    this.#settings = options.settingsManager ?? SettingsManager.create(this.#cwd, this.#folder);
  }

  /** Finds everything again and loads the extensions anew. */
  async reload({ resolveProjectTrust }: ResourceLoaderReloadOptions = {}): Promise<void> {
    await this.#settings.reload();
    if (resolveProjectTrust) {
      this.#settings.setProjectTrusted(await resolveProjectTrust({ extensionsResult: this.#extensions }));
    }
    const { settings } = checkSettings(this.#settings.layers);
    const roots = { agentDir: this.#folder, cwd: this.#cwd, trusted: this.#settings.isProjectTrusted() };
    const packages = packageResources(settings.packages ?? [], roots);
    await this.#loadExtensions(packages);
    await this.#loadResources(packages);
    this.loaded = true;
  }

  getExtensions(): LoadExtensionsResult {
    return this.#extensions;
  }

  getSkills(): SkillList {
    return this.#skills;
  }

  getPrompts(): PromptList {
    return this.#prompts;
  }

  /** tau has no themes. */
  getThemes(): { themes: []; diagnostics: [] } {
    return { themes: [], diagnostics: [] };
  }

  getAgentsFiles(): ContextFileList {
    const { noContextFiles, agentsFilesOverride } = this.#options;
    const files = noContextFiles ? [] : this.#parts.contextFiles;
    const base = { agentsFiles: files.map(({ path, text }) => ({ path, content: text })) };
    return agentsFilesOverride?.(base) ?? base;
  }

  getSystemPrompt(): string | undefined {
    const { systemPrompt, systemPromptOverride } = this.#options;
    const base = systemPrompt === undefined ? this.#parts.system : textOrFile(systemPrompt);
    return systemPromptOverride ? systemPromptOverride(base) : base;
  }

  getAppendSystemPrompt(): string[] {
    const { appendSystemPrompt, appendSystemPromptOverride } = this.#options;
    const base = appendSystemPrompt?.map(textOrFile) ?? [...this.#parts.append];
    return appendSystemPromptOverride ? appendSystemPromptOverride(base) : base;
  }

  /** Adds files and folders of skills and templates, for the next `reload`. */
  extendResources({ skillPaths = [], promptPaths = [] }: ExtendedPaths): void {
    this.#extraPaths = {
      skills: [...this.#extraPaths.skills, ...skillPaths.map(({ path }) => path)],
      prompts: [...this.#extraPaths.prompts, ...promptPaths.map(({ path }) => path)],
    };
  }

  get #parts() {
    const trusted = this.#settings.isProjectTrusted();
    return promptParts({ agentDir: this.#folder, cwd: this.#cwd, trusted }, {});
  }

  async #loadExtensions(packages: PackageResources): Promise<void> {
    const { noExtensions = false, additionalExtensionPaths = [], extensionFactories = [] } = this.#options;
    const { extensionsOverride, eventBus: bus } = this.#options;
    const { parent } = this;
    const options = preloadOptions(this.#settings, { cwd: this.#cwd, folder: this.#folder });
    const { found } = findExtensions({
      ...options,
      discover: !noExtensions,
      fromSettings: noExtensions ? [] : (options.settings.extensions ?? []),
      fromFlags: additionalExtensionPaths,
      fromPackages: packages.extensions,
    });
    const sources = [...found, ...inlineSources(extensionFactories, this.#cwd)];
    const shared = parent ? { registry: parent.registry.share(), sdk: parent.sdk } : {};
    const base = await preload(sources, { ...options, ...shared, bus });
    this.#extensions = extensionsOverride?.(base) ?? base;
    this.#preloaded?.close();
    this.#preloaded = base.runtime.preloaded;
  }

  async #loadResources(packages: PackageResources): Promise<void> {
    const { noSkills = false, noPromptTemplates = false } = this.#options;
    const { additionalSkillPaths = [], additionalPromptTemplatePaths = [] } = this.#options;
    const { skillsOverride, promptsOverride } = this.#options;
    const { settings } = checkSettings(this.#settings.layers);
    const found = await Resources.load(
      {
        agentDir: this.#folder,
        home: homedir(),
        cwd: this.#cwd,
        trusted: this.#settings.isProjectTrusted(),
        findSkills: !noSkills,
        findTemplates: !noPromptTemplates,
        skillPaths: [
          ...(noSkills ? [] : [...(settings.skills ?? []), ...packages.skills]),
          ...additionalSkillPaths,
          ...this.#extraPaths.skills,
        ],
        promptPaths: [
          ...(noPromptTemplates ? [] : [...(settings.prompts ?? []), ...packages.prompts]),
          ...additionalPromptTemplatePaths,
          ...this.#extraPaths.prompts,
        ],
      },
      () => {},
    );
    const diagnostics = found.warnings.map((message) => ({ type: 'warning' as const, message }));
    const commands = found.commands as readonly SlashCommand[];
    const skills = { skills: skillsIn(commands), diagnostics };
    const prompts = { prompts: promptTemplates(commands), diagnostics: [] };
    this.#skills = skillsOverride?.(skills) ?? skills;
    this.#prompts = promptsOverride?.(prompts) ?? prompts;
  }
}

interface ResourcePaths {
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
}

interface ExtendedPaths {
  readonly skillPaths?: readonly { readonly path: string }[] | undefined;
  readonly promptPaths?: readonly { readonly path: string }[] | undefined;
}

const textOrFile = (value: string): string =>
  value.length < 4096 && !value.includes('\n') && statSync(value, { throwIfNoEntry: false })?.isFile()
    ? readFileSync(value, 'utf8')
    : value;

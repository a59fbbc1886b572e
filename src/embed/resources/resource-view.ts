import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AddonOptions } from '../../engine/addons/detect.ts';
import { frontMatter } from '../../extend/front-matter.ts';
import { promptParts, type SystemPromptOverrides } from '../../extend/prompt-parts.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { EmbedContext } from '../context.ts';
import { extensionsOf } from '../extension-runner.ts';
import { ExtensionRuntime, type LoadExtensionsResult, type SourceInfo } from './load-extensions.ts';

/** Resources that a program provides instead of those in folders; each method is optional. */
export interface ResourceLoader {
  /** Only extensions of `DefaultResourceLoader` and `discoverAndLoadExtensions`. */
  getExtensions?(): { readonly extensions: readonly { readonly path: string }[]; readonly runtime?: unknown };
  getSkills?(): { readonly skills: readonly { readonly filePath: string }[] };
  getPrompts?(): { readonly prompts: readonly { readonly filePath: string }[] };
  getAgentsFiles?(): { readonly agentsFiles: readonly { readonly path: string; readonly content: string }[] };
  getSystemPrompt?(): string | undefined;
  getAppendSystemPrompt?(): readonly string[];
}

/** Converts a loader to engine options: its texts are used, its skills and templates are read from their files. */
export function loaderOptions(loader: ResourceLoader | undefined): {
  prompt: SystemPromptOverrides;
  addons: AddonOptions;
} {
  if (!loader) return { prompt: {}, addons: {} };
  const files = loader.getAgentsFiles?.().agentsFiles;
  return {
    prompt: {
      system: loader.getSystemPrompt?.(),
      append: loader.getAppendSystemPrompt?.(),
      contextFiles: files?.map(({ path, content }) => ({ path, text: content })),
    },
    addons: {
      ...extensionOptions(loader),
      findSkills: loader.getSkills === undefined,
      findPromptTemplates: loader.getPrompts === undefined,
      skills: loader.getSkills?.().skills.map(({ filePath }) => filePath),
      promptTemplates: loader.getPrompts?.().prompts.map(({ filePath }) => filePath),
    },
  };
}

function extensionOptions(loader: ResourceLoader): AddonOptions {
  const given = loader.getExtensions?.();
  if (!given) return {};
  const preloaded = given.runtime instanceof ExtensionRuntime ? given.runtime.preloaded : undefined;
  const loaded = preloaded?.extensions.all ?? [];
  const kept = given.extensions.flatMap(({ path }) => loaded.find((extension) => extension.path === path) ?? []);
  if (kept.length < given.extensions.length) {
    const advice = 'use DefaultResourceLoader, or give their tools as customTools';
    throw new Refusal('not_supported', `Extensions that another program has loaded cannot be used: ${advice}`);
  }
  preloaded?.extensions.retain(kept);
  const sources = kept.map(({ source }) => source);
  return {
    findExtensions: false,
    extensions: sources.filter(({ factory }) => !factory).map(({ path }) => path),
    extensionFactories: new Map(sources.flatMap(({ path, factory }) => (factory ? [[path, factory] as const] : []))),
    preloaded,
  };
}

export interface PromptTemplate {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string | undefined;
  readonly filePath: string;
  readonly sourceInfo?: SourceInfo | undefined;
  /** Read from the file on each access. */
  readonly content: string;
}

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly filePath: string;
  /** The folder of the file. */
  readonly baseDir: string;
  readonly sourceInfo?: SourceInfo | undefined;
  /** True: only the user may invoke it. */
  readonly disableModelInvocation: boolean;
}

/** The skills among these commands. */
export const skillsIn = (commands: readonly SlashCommand[]): Skill[] =>
  commands
    .filter(({ source }) => source === 'skill')
    .map(({ name, description = '', path = '', sourceInfo }) => ({
      name: name.replace(/^skill:/, ''),
      description,
      filePath: path,
      baseDir: dirname(path),
      sourceInfo: sourceInfo as SourceInfo | undefined,
      disableModelInvocation: isForUsers(path),
    }));

/** The prompt templates among these commands. */
export const promptTemplates = (commands: readonly SlashCommand[]): PromptTemplate[] =>
  commands
    .filter(({ source }) => source === 'prompt')
    .map(({ name, description = '', argumentHint, path = '', sourceInfo }) => ({
      name,
      description,
      argumentHint,
      filePath: path,
      sourceInfo: sourceInfo as SourceInfo | undefined,
      content: bodyOf(path),
    }));

/** A view of the loaded resources, under pi's names. */
export class ResourceView {
  readonly #context: EmbedContext;
  readonly #promptOptions: SystemPromptOverrides;
  readonly #runtime = new ExtensionRuntime();

  constructor(context: EmbedContext, promptOptions: SystemPromptOverrides) {
    this.#context = context;
    this.#promptOptions = promptOptions;
  }

  getExtensions = (): LoadExtensionsResult => ({
    extensions: extensionsOf(this.#context.agent),
    errors: [...this.#context.loadErrors],
    runtime: this.#runtime,
  });

  getSkills = (): { skills: Skill[]; diagnostics: [] } => ({ skills: skillsIn(this.#commands), diagnostics: [] });

  getPrompts = (): { prompts: PromptTemplate[]; diagnostics: [] } => ({
    prompts: promptTemplates(this.#commands),
    diagnostics: [],
  });

  getThemes = (): { themes: []; diagnostics: [] } => ({ themes: [], diagnostics: [] });

  getAgentsFiles = (): { agentsFiles: { path: string; content: string }[] } => ({
    agentsFiles: this.#parts.contextFiles.map(({ path, text }) => ({ path, content: text })),
  });

  /** The replacement of tau's own system prompt. */
  getSystemPrompt = (): string | undefined => this.#parts.system;
  getAppendSystemPrompt = (): string[] => [...this.#parts.append];

  reload = (): Promise<void> => this.#context.reload();

  get #parts() {
    const { agentDir } = this.#context.agent.addonPaths;
    const { cwd, trusted } = this.#context.agent.project;
    return promptParts({ agentDir, cwd, trusted }, this.#promptOptions);
  }

  get #commands(): readonly SlashCommand[] {
    return this.#context.agent.addons.loaded?.commands ?? [];
  }
}

/** The file may have been removed or changed. */
function bodyOf(path: string): string {
  try {
    return frontMatter(readFileSync(path, 'utf8')).body;
  } catch {
    return '';
  }
}

function isForUsers(path: string): boolean {
  try {
    return frontMatter(readFileSync(path, 'utf8')).values['disable-model-invocation'] === true;
  } catch {
    return false;
  }
}

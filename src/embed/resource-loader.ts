import { readFileSync } from 'node:fs';
import type { AddonOptions } from '../engine/addons/detect.ts';
import { frontMatter } from '../extend/front-matter.ts';
import { promptParts, type SystemPromptOverrides } from '../extend/prompt-parts.ts';
import { Refusal } from '../protocol/errors.ts';
import type { SlashCommand } from '../protocol/generated/vocabulary.ts';
import type { EmbedContext } from './context.ts';
import { extensionsOf, type LoadedExtension } from './extension-runner.ts';

/** Resources that a program provides instead of those in folders; each method is optional. */
export interface ResourceLoader {
  getExtensions?(): { readonly extensions: readonly unknown[] };
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
  if ((loader.getExtensions?.().extensions.length ?? 0) > 0) {
    const advice = 'put their files where tau finds them, or give their tools as customTools';
    throw new Refusal('not_supported', `Extensions that a resourceLoader has loaded cannot be used: ${advice}`);
  }
  const files = loader.getAgentsFiles?.().agentsFiles;
  return {
    prompt: {
      system: loader.getSystemPrompt?.(),
      append: loader.getAppendSystemPrompt?.(),
      contextFiles: files?.map(({ path, content }) => ({ path, text: content })),
    },
    addons: {
      findExtensions: loader.getExtensions === undefined,
      findSkills: loader.getSkills === undefined,
      findPromptTemplates: loader.getPrompts === undefined,
      skills: loader.getSkills?.().skills.map(({ filePath }) => filePath),
      promptTemplates: loader.getPrompts?.().prompts.map(({ filePath }) => filePath),
    },
  };
}

export interface PromptTemplate {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string | undefined;
  readonly filePath: string;
  /** Read from the file on each access. */
  readonly content: string;
}

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly filePath: string;
}

/** A view of the loaded resources, under pi's names. */
export class ResourceView {
  readonly #context: EmbedContext;
  readonly #promptOptions: SystemPromptOverrides;

  constructor(context: EmbedContext, promptOptions: SystemPromptOverrides) {
    this.#context = context;
    this.#promptOptions = promptOptions;
  }

  getExtensions = (): { extensions: LoadedExtension[]; errors: { path: string; error: string }[] } => ({
    extensions: extensionsOf(this.#context.agent),
    errors: [...this.#context.loadErrors],
  });

  getSkills = (): { skills: Skill[]; diagnostics: [] } => {
    const skills = this.#commands('skill').map(({ name, description = '', path = '' }) => {
      return { name: name.replace(/^skill:/, ''), description, filePath: path };
    });
    return { skills, diagnostics: [] };
  };

  getPrompts = (): { prompts: PromptTemplate[]; diagnostics: [] } => {
    const prompts = this.#commands('prompt').map(({ name, description = '', argumentHint, path = '' }) => {
      return { name, description, argumentHint, filePath: path, content: bodyOf(path) };
    });
    return { prompts, diagnostics: [] };
  };

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

  #commands(source: SlashCommand['source']): SlashCommand[] {
    const { loaded } = this.#context.agent.addons;
    return (loaded?.commands ?? []).filter((command) => command.source === source);
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

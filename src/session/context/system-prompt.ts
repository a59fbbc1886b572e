import type { HookMessage } from '../../agent/hooks.ts';
import type { Tool } from '../../agent/tool.ts';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../hooks.ts';

/** A file with instructions for agents, such as AGENTS.md. */
export interface ContextFile {
  readonly path: string;
  readonly text: string;
}

/** A skill in the system prompt; the model reads its file when needed. */
export interface SkillListing {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

/** Parts of the system prompt from flags, files and extensions. */
export interface PromptParts {
  /** Replaces the default prompt. */
  readonly system?: string | undefined;
  /** Follow the default prompt. */
  readonly append: readonly string[];
  readonly contextFiles: readonly ContextFile[];
  readonly skills?: readonly SkillListing[] | undefined;
}

/** A tool as the system prompt describes it. */
export type PromptTool = Pick<Tool, 'name' | 'description' | 'promptSnippet' | 'promptGuidelines'>;

export interface PromptFacts {
  readonly cwd: string;
  readonly tools: readonly Tool[];
  readonly parts: PromptParts;
}

/** The contents of a system prompt. */
export interface PromptContents extends Omit<PromptFacts, 'tools'> {
  readonly tools: readonly PromptTool[];
  /** Lines of advice beside those of the tools. */
  readonly guidelines?: readonly string[];
}

/** Builds the system prompt. */
export function systemPrompt({ cwd, tools, parts, guidelines = [] }: PromptContents): string {
  const today = new Date().toISOString().slice(0, 10);
  const sections = [
    parts.system ?? defaultPrompt(tools, guidelines),
    ...parts.append,
    ...projectContext(parts.contextFiles),
    ...(tools.some(({ name }) => name === 'read') ? availableSkills(parts.skills ?? []) : []),
    `Today is ${today}. The working directory is ${cwd}`,
  ];
  return sections
    .map((section) => section.trim())
    .filter(Boolean)
    .join('\n\n');
}

function defaultPrompt(tools: readonly PromptTool[], guidelines: readonly string[]): string {
  if (tools.length === 0) return WITHOUT_TOOLS;
  const list = tools.map(({ name, description, promptSnippet }) => `- ${name}: ${promptSnippet ?? description}`);
  const advice = new Set([...tools.flatMap(({ promptGuidelines }) => promptGuidelines ?? []), ...guidelines]);
  return `You are a coding agent. You work in a folder on the user's machine and act through tools.

Tools:
${list.join('\n')}
${[...advice].map((line) => `\n- ${line}`).join('')}
Look before you change things, keep changes small, name the files you touch, and say plainly when something failed.`;
}

const WITHOUT_TOOLS = `You are a coding agent for a folder on the user's machine. You have no tools at the moment: \
say what is to be done, and ask for whatever you need to see.`;

function projectContext(files: readonly ContextFile[]): string[] {
  if (files.length === 0) return [];
  const parts = files.map(({ path, text }) => `## ${path}\n\n${text.trim()}`);
  return [`# Project context\n\n${parts.join('\n\n')}`];
}

/** Only names and descriptions: the model reads a skill's file when it needs it. */
export function availableSkills(skills: readonly SkillListing[]): string[] {
  if (skills.length === 0) return [];
  const items = skills.flatMap(({ name, description, path }) => [
    '  <skill>',
    `    <name>${escapeXml(name)}</name>`,
    `    <description>${escapeXml(description)}</description>`,
    `    <location>${escapeXml(path)}</location>`,
    '  </skill>',
  ]);
  return [`${ABOUT_SKILLS}\n\n${['<available_skills>', ...items, '</available_skills>'].join('\n')}`];
}

const ABOUT_SKILLS = `# Skills

Each of these files tells how to do one kind of work well. When a task fits a description, read the file with the read \
tool before you begin, and do as it says. Paths in it are relative to the folder that the file is in.`;

/** Escapes a text for XML content and attributes. */
export const escapeXml = (text: string) =>
  text.replace(/[&<>"']/g, (character) => XML_ENTITIES[character] ?? character);

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** The system prompt of one run: the session's after hooks, or the one that `beforeAgentStart` returned. */
export class RunSystemPrompt {
  readonly #hooks: SessionHooks;
  readonly #signal: AbortSignal;
  #startHookRan = false;
  #override: string | undefined;

  constructor(hooks: SessionHooks, signal: AbortSignal) {
    this.#hooks = hooks;
    this.#signal = signal;
  }

  /** Calls `beforeAgentStart` once per run; returns the messages to add after the opening ones. */
  async runStartHook(base: string, messages: readonly AgentMessage[]): Promise<readonly HookMessage[]> {
    const { beforeAgentStart } = this.#hooks;
    if (this.#startHookRan || !beforeAgentStart) return [];
    this.#startHookRan = true;
    const start = { messages, systemPrompt: await this.resolve(base) };
    const hookResult = await unlessAborted(beforeAgentStart(start, this.#signal), this.#signal);
    this.#override = hookResult?.systemPrompt;
    return hookResult?.messages ?? [];
  }

  async resolve(base: string): Promise<string> {
    const { systemPrompt } = this.#hooks;
    if (this.#override !== undefined) return this.#override;
    return (systemPrompt && (await unlessAborted(systemPrompt(base, this.#signal), this.#signal))) ?? base;
  }
}

import { printableName } from '../../agent/tools/result-lines.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { SkillListing } from '../../session/context/system-prompt.ts';
import type { SessionHooks, UserInput } from '../../session/hooks.ts';
import { HIDDEN_TARGET, leadsToHiddenFile } from '../hidden-links.ts';
import { leadsOutOfProject, OUT_OF_PROJECT } from '../repository-folders.ts';
import { gather, type ReasonAgainst } from './gather.ts';
import {
  excludedFiles,
  type ResourceOptions,
  type ResourceRoot,
  skillRoots,
  sourceFields,
  templateRoots,
} from './search-roots.ts';
import { type LoadedSkill, readSkill, skillText } from './skill.ts';
import { skillFiles } from './skill-files.ts';
import { readTemplate, type Template, templateFiles, templateText } from './template.ts';

/** Further warnings are only counted. */
export const MAX_WARNINGS = 30;

type OnFailure = (path: string, event: string, error: unknown) => void;

// A skill or template that a message can invoke by its name.
interface Invocable {
  readonly name: string;
  readonly path: string;
  // The `event` of the reported failure if its file cannot be read.
  readonly event: string;
  readonly listing: SlashCommand;
  // Returns the expanded message.
  readonly expand: (args: string) => string;
}

/** The skills and prompt templates of an agent. */
export class Resources {
  readonly hooks: SessionHooks;
  readonly warnings: readonly string[];
  /** Templates, then skills. */
  readonly commands: readonly SlashCommand[];
  /** The skills that the model may choose by itself. */
  readonly listings: readonly SkillListing[];

  private constructor(parts: Pick<Resources, 'hooks' | 'warnings' | 'commands' | 'listings'>) {
    this.hooks = parts.hooks;
    this.warnings = parts.warnings;
    this.commands = parts.commands;
    this.listings = parts.listings;
  }

  /** Finds all skills and templates. An unusable file gives a warning. */
  static async load(options: ResourceOptions, onFailure: OnFailure): Promise<Resources> {
    const warnings: string[] = [];
    const warn = (warning: string) => void warnings.push(printableName(warning));
    const reasonAgainst: ReasonAgainst = (path, { location }) => {
      // The user's own files may be anywhere.
      if (location !== 'user' && leadsToHiddenFile(path, options)) return HIDDEN_TARGET;
      const leadsOut = location === 'project' && !options.trusted && leadsOutOfProject(path, options.cwd);
      return leadsOut ? OUT_OF_PROJECT : undefined;
    };
    const templates = await gather<Template>(
      {
        plural: 'prompt templates',
        roots: templateRoots(options),
        filesIn: templateFiles,
        read: readTemplate,
        isExcluded: excludedFiles(options.promptPaths, options),
        reasonAgainst,
      },
      warn,
    );
    const skills = await gather<LoadedSkill>(
      {
        plural: 'skills',
        roots: skillRoots(options),
        filesIn: skillFiles,
        read: readSkill,
        isExcluded: excludedFiles(options.skillPaths, options),
        reasonAgainst,
      },
      warn,
    );
    const { hasSkillCommands = true } = options;
    const commands = [
      ...projectFirst(templates).map((template) => templateCommand(template, reasonAgainst)),
      ...(hasSkillCommands ? projectFirst(skills).map((skill) => skillCommand(skill, reasonAgainst)) : []),
    ];
    return new Resources({
      // Without a hook, messages need not wait.
      hooks: commands.length === 0 ? {} : { expand: async (input) => expand(input, commands, onFailure) },
      warnings: limitWarnings(warnings),
      commands: commands.map(({ listing: slashCommand }) => slashCommand),
      listings: skills.filter(({ isListed }) => isListed),
    });
  }
}

/** The order of pi's lists. A name that both have is still the user's. */
const projectFirst = <T extends { readonly root: ResourceRoot }>(found: readonly T[]): T[] => {
  const isOfProject = ({ root }: T) => root.location === 'project';
  return [...found.filter(isOfProject), ...found.filter((one) => !isOfProject(one))];
};

/** Throws if a file that was read before must not be read any more: a command may have replaced it by a link. */
function checkAgain({ path, root }: Found, reasonAgainst: ReasonAgainst): void {
  const reason = reasonAgainst(path, root);
  if (reason !== undefined) throw new Error(`${path} is left out: ${reason}`);
}

function templateCommand(template: Template, reasonAgainst: ReasonAgainst): Invocable {
  const { name, path, argumentHint } = template;
  const listing = toCommand(name, template, 'prompt');
  return {
    name,
    path,
    event: 'template_expansion',
    listing: argumentHint === undefined ? listing : { ...listing, argumentHint },
    expand: (args) => {
      checkAgain(template, reasonAgainst);
      return templateText(template, args);
    },
  };
}

function skillCommand(skill: LoadedSkill, reasonAgainst: ReasonAgainst): Invocable {
  const name = `skill:${skill.name}`;
  return {
    name,
    path: skill.path,
    event: 'skill_expansion',
    listing: toCommand(name, skill, 'skill'),
    expand: (args) => {
      checkAgain(skill, reasonAgainst);
      return skillText(skill, args);
    },
  };
}

type Found = Readonly<Record<'description' | 'path', string>> & { readonly root: ResourceRoot };

const toCommand = (name: string, { description, path, root }: Found, source: 'prompt' | 'skill'): SlashCommand => ({
  name,
  description,
  source,
  ...sourceFields(path, root),
});

// The expanded message; undefined if it invokes no command. The file is read now, because it may have changed.
function expand(
  { text, images }: UserInput,
  commands: readonly Invocable[],
  onFailure: OnFailure,
): UserInput | undefined {
  const invocation = text.startsWith('/') ? findInvokedCommand(text, commands) : undefined;
  if (!invocation) return undefined;
  const { command, args } = invocation;
  try {
    const expansion = command.expand(args);
    // An empty expansion leaves the message unchanged.
    return expansion.trim() === '' ? undefined : { text: expansion, images };
  } catch (error) {
    onFailure(command.path, command.event, error);
    return undefined;
  }
}

function limitWarnings(warnings: readonly string[]): string[] {
  if (warnings.length <= MAX_WARNINGS) return [...warnings];
  const rest = warnings.length - MAX_WARNINGS;
  return [
    ...warnings.slice(0, MAX_WARNINGS),
    `${rest} more skills and prompt templates have something wrong with them`,
  ];
}

// The command that a text invokes as `/name` or `/name arguments`.
function findInvokedCommand<T extends { readonly name: string }>(
  text: string,
  commands: readonly T[],
): { command: T; args: string } | undefined {
  const matches = commands.filter(
    ({ name }) => text.startsWith(name, 1) && /^(?:$|\s)/.test(text.slice(name.length + 1)),
  );
  // Names may contain blanks, so the longest match counts.
  const [command] = matches.sort((a, b) => b.name.length - a.name.length);
  return command && { command, args: text.slice(command.name.length + 1).trim() };
}

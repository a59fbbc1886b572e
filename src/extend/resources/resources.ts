import { printableName } from '../../agent/tools/result-lines.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import type { UserInput, SessionHooks } from '../../session/hooks.ts';
import type { SkillListing } from '../../session/context/system-prompt.ts';
import { callIn } from './call.ts';
import { gather } from './gather.ts';
import { type Place, type ResourcePlaces, skillPlaces, templatePlaces, whereabouts } from './places.ts';
import { readSkill, type Skill, skillText } from './skill.ts';
import { skillFiles } from './skill-files.ts';
import { readTemplate, type Template, templateText } from './template.ts';
import { templateFiles } from './template-files.ts';
import { unwanted } from './unwanted.ts';

/** More warnings than this are counted, not told. */
export const MAX_WARNINGS = 30;

type OnFailure = (path: string, event: string, error: unknown) => void;

/** Something that a message may call by its name. */
interface Callable {
  readonly name: string;
  readonly path: string;
  /** What is said to have failed when its file cannot be used. */
  readonly event: string;
  readonly listed: SlashCommand;
  /** What the message becomes. */
  readonly text: (args: string) => string;
}

/** Skills and prompt templates. */
export class Resources {
  readonly hooks: SessionHooks;
  readonly warnings: readonly string[];
  /** What a message may call: templates, then skills. */
  readonly commands: readonly SlashCommand[];
  /** The skills that the model may choose by itself. */
  readonly listings: readonly SkillListing[];

  private constructor(parts: Pick<Resources, 'hooks' | 'warnings' | 'commands' | 'listings'>) {
    this.hooks = parts.hooks;
    this.warnings = parts.warnings;
    this.commands = parts.commands;
    this.listings = parts.listings;
  }

  /** Finds what there is. A file that is no good is left out and told of in a warning. */
  static async load(places: ResourcePlaces, onFailure: OnFailure): Promise<Resources> {
    const warnings: string[] = [];
    const warn = (warning: string) => void warnings.push(printableName(warning));
    const templates = await gather<Template>(
      {
        plural: 'prompt templates',
        places: templatePlaces(places),
        filesIn: templateFiles,
        read: readTemplate,
        isUnwanted: unwanted(places.promptPaths, places),
      },
      warn,
    );
    const skills = await gather<Skill>(
      {
        plural: 'skills',
        places: skillPlaces(places),
        filesIn: skillFiles,
        read: readSkill,
        isUnwanted: unwanted(places.skillPaths, places),
      },
      warn,
    );
    const callables = [...templates.map(asTemplate), ...skills.map(asSkill)];
    return new Resources({
      // Nobody waits where nothing can be called.
      hooks: callables.length === 0 ? {} : { expand: async (input) => expanded(input, callables, onFailure) },
      warnings: shortened(warnings),
      commands: callables.map(({ listed }) => listed),
      listings: skills.filter(({ isListed }) => isListed),
    });
  }
}

function asTemplate(template: Template): Callable {
  const { name, path, argumentHint } = template;
  const listed = listing(name, template, 'prompt');
  return {
    name,
    path,
    event: 'template_expansion',
    listed: argumentHint === undefined ? listed : { ...listed, argumentHint },
    text: (args) => templateText(template, args),
  };
}

function asSkill(skill: Skill): Callable {
  const name = `skill:${skill.name}`;
  return {
    name,
    path: skill.path,
    event: 'skill_expansion',
    listed: listing(name, skill, 'skill'),
    text: (args) => skillText(skill, args),
  };
}

type Found = Readonly<Record<'description' | 'path', string>> & { readonly place: Place };

const listing = (name: string, { description, path, place }: Found, source: 'prompt' | 'skill'): SlashCommand => ({
  name,
  description,
  source,
  ...whereabouts(path, place),
});

/** What a message stands for; undefined when it stands for itself. Files are read now: they may have changed. */
function expanded({ text, images }: UserInput, callables: readonly Callable[], onFailure: OnFailure): UserInput | undefined {
  const call = text.startsWith('/') ? callIn(text, callables) : undefined;
  if (!call) return undefined;
  const { command, args } = call;
  try {
    const words = command.text(args);
    // A message that says nothing is none.
    return words.trim() === '' ? undefined : { text: words, images };
  } catch (error) {
    onFailure(command.path, command.event, error);
    return undefined;
  }
}

function shortened(warnings: readonly string[]): string[] {
  if (warnings.length <= MAX_WARNINGS) return [...warnings];
  const rest = warnings.length - MAX_WARNINGS;
  return [
    ...warnings.slice(0, MAX_WARNINGS),
    `${rest} more skills and prompt templates have something wrong with them`,
  ];
}

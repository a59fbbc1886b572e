import { basename, dirname } from 'node:path';
import { escapeXml } from '../../session/context/system-prompt.ts';
import { frontMatter } from '../front-matter.ts';
import { readPromptFile } from '../prompt-file.ts';
import type { ResourceRoot } from './search-roots.ts';

// Other agents reject longer ones; here they give a warning.
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;

/** A skill: instructions that the user or the model can load by name. */
export interface LoadedSkill {
  readonly name: string;
  readonly description: string;
  readonly path: string;
  readonly root: ResourceRoot;
  /** Whether the model gets it listed; the user can always invoke it. */
  readonly isListed: boolean;
}

/** Reads the skill in a file; undefined if there is none. */
export function readSkill(path: string, root: ResourceRoot, warn: (warning: string) => void): LoadedSkill | undefined {
  const { values, problem } = frontMatter(readPromptFile(path));
  if (problem !== undefined) {
    warn(`${path} is left out: ${problem}`);
    return undefined;
  }
  const description = textFrom(values['description']);
  if (description === '') {
    // Other files, such as a README, may lie among skills.
    const looksLikeSkill = isInFolder(path) || root.path === path || Object.keys(values).length > 0;
    if (looksLikeSkill) warn(`${path} is left out: it has no description`);
    return undefined;
  }
  const defaultName = isInFolder(path) ? basename(dirname(path)) : basename(path, '.md');
  const name = textFrom(values['name']) || defaultName;
  if (isInFolder(path) && name !== defaultName) warn(`${path}: its name, ${name}, is not that of its folder`);
  for (const problemFound of compatibilityProblems({ name, description })) warn(`${path}: ${problemFound}`);
  return { name, description, path, root, isListed: values['disable-model-invocation'] !== true };
}

/** The message that an invoked skill becomes. */
export function skillText({ name, path }: LoadedSkill, args: string): string {
  const { body } = frontMatter(readPromptFile(path));
  const block = [
    `<skill name="${escapeXml(name)}" location="${escapeXml(path)}">`,
    `Relative paths in this skill are relative to its folder, ${dirname(path)}`,
    '',
    body,
    '</skill>',
  ].join('\n');
  return args === '' ? block : `${block}\n\n${args}`;
}

const isInFolder = (path: string) => basename(path) === 'SKILL.md';

// Reasons for which other agents would reject the skill.
function* compatibilityProblems({ name, description }: Pick<LoadedSkill, 'name' | 'description'>): Iterable<string> {
  if (name.length > MAX_NAME) yield `its name has more than ${MAX_NAME} characters`;
  if (!/^[a-z0-9-]*$/.test(name)) yield `its name, ${name}, has more in it than a-z, 0-9 and hyphens`;
  if (/^-|-$|--/.test(name)) yield `its name, ${name}, has a hyphen at an end or two in a row`;
  if (description.length > MAX_DESCRIPTION) yield `its description has more than ${MAX_DESCRIPTION} characters`;
}

const textFrom = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

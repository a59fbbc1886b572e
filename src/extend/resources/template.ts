import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import { frontMatter } from '../front-matter.ts';
import { readPromptFile } from '../prompt-file.ts';
import type { ResourceRoot } from './search-roots.ts';
import { kindOf, MAX_NAMES } from './skill-files.ts';
import { fillTemplate, splitArguments } from './template-arguments.ts';

// Limit of a description taken from the first line.
const MAX_FIRST_LINE = 60;

/** A prompt template with placeholders for arguments. */
export interface Template {
  readonly name: string;
  readonly description: string;
  readonly path: string;
  readonly root: ResourceRoot;
  readonly argumentHint: string | undefined;
}

/** Reads a template. Malformed front matter only gives a warning. */
export function readTemplate(path: string, root: ResourceRoot, warn: (warning: string) => void): Template | undefined {
  const { values, body, problem } = frontMatter(readPromptFile(path));
  if (problem !== undefined) warn(`${path}: ${problem}`);
  if (body === '') {
    warn(`${path} is left out: it is empty`);
    return undefined;
  }
  const { description } = values;
  const ownDescription = typeof description === 'string' ? description.trim() : '';
  return {
    name: basename(path, '.md'),
    description: ownDescription || firstLine(body),
    path,
    root,
    argumentHint: hintOf(values['argument-hint']),
  };
}

/** The message that an invoked template becomes. */
export const templateText = ({ path }: Template, args: string): string =>
  fillTemplate(frontMatter(readPromptFile(path)).body, splitArguments(args));

function firstLine(body: string): string {
  const [line = ''] = body.split('\n');
  const characters = [...line.trim()];
  return characters.length > MAX_FIRST_LINE
    ? `${characters.slice(0, MAX_FIRST_LINE).join('')}...`
    : characters.join('');
}

// An unquoted `[focus]` is a list in YAML.
function hintOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The .md files directly in a folder. Follows links. */
export async function templateFiles(folder: string, warn: (warning: string) => void): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.length > MAX_NAMES) throw new Error(`it holds more than ${MAX_NAMES} names`);
    const files: string[] = [];
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const isTemplateName = entry.name.endsWith('.md') && !entry.name.startsWith('.');
      if (isTemplateName && (await kindOf(entry, path)) === 'file') files.push(path);
    }
    return files.sort();
  } catch (error) {
    warn(`${folder} is left out of the prompt templates: ${messageOf(error)}`);
    return [];
  }
}

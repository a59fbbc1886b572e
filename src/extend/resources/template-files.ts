import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import { kindOf, MAX_NAMES } from './skill-files.ts';

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

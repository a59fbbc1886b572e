import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';

// Limit over all folders.
const MAX_RULE_FILES = 200;

/** The folders of rules. */
export interface RuleLocations {
  readonly agentDir: string;
  readonly cwd: string;
  /** Whether the project's own rules count. */
  readonly trusted: boolean;
}

/** The rule files in order of precedence, with warnings about their folders. */
export function ruleFiles({ agentDir, cwd, trusted }: RuleLocations): { files: string[]; warnings: string[] } {
  const projectFolders = trusted ? [join(cwd, '.pi'), join(cwd, '.pi', 'agent')] : [];
  const warnings: string[] = [];
  // In the home folder, both may be the same folder.
  const folders = new Set([...projectFolders, agentDir].map((folder) => join(folder, 'rules')));
  const files = [...folders].flatMap((folder) => filesIn(folder, warnings));
  const firstOmitted = files[MAX_RULE_FILES];
  if (firstOmitted !== undefined) {
    warnings.push(
      `${firstOmitted}: there are more than ${MAX_RULE_FILES} files of rules; this one and what follows is left out`,
    );
  }
  return { files: files.slice(0, MAX_RULE_FILES), warnings };
}

export const ruleNameOf = (file: string): string => basename(file, '.md');

function filesIn(folder: string, warnings: string[]): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') warnings.push(`${folder}: ${messageOf(error)}`);
    return [];
  }
}
